// The replay viewer: on a page of the server, or on one that holds its game itself (`threeup replay --html`).

import { pack, request, unpack } from "./api.js";
import { Board, describeTurn, drawShare, pause, seatName } from "./board.js";
import { actionName, drawEffects, h } from "./cards.js";

const BEAT = 900; // milliseconds a step while it plays
const byId = (id) => document.getElementById(id);

class Replay {
  constructor() {
    this.board = new Board(byId("board"));
    this.games = [];
    this.lines = []; // the records as text, where the server made the frames
    this.number = 0;
    this.step = 0;
    this.viewer = "all";
    this.running = false;
  }

  get game() {
    return this.games[this.number];
  }

  get last() {
    return this.game.frames.length - 1;
  }

  /** Show games; the rest of the page's address says which position. */
  open(games, lines) {
    this.games = games;
    this.lines = lines;
    byId("chooser").hidden = true;
    byId("game").hidden = false;
    byId("number").replaceChildren(...games.map((_, number) => h("option", { value: number }, String(number))));
    byId("number").closest("label").hidden = games.length < 2;
    const wanted = new URLSearchParams(location.hash.slice(1));
    this.choose(Number(wanted.get("game") ?? 0), Number(wanted.get("step") ?? 0), wanted.get("view") ?? "all");
  }

  choose(number, step, viewer) {
    this.number = this.games[number] ? number : 0;
    byId("number").value = this.number;
    const seats = this.game.frames[0].table.seats.map((_, seat) => seat);
    const names = this.game.players;
    byId("viewer").replaceChildren(
      h("option", { value: "all" }, "all seats"),
      ...seats.map((seat) => h("option", { value: seat }, seatName({ names }, seat))),
      h("option", { value: "none" }, "what everybody sees"),
    );
    this.viewer = [...byId("viewer").options].some((option) => option.value === viewer) ? viewer : "all";
    byId("viewer").value = this.viewer;
    const policies = this.game.policies ?? (this.game.policy ? [this.game.policy] : []);
    byId("policy").replaceChildren(...policies.map((name) => h("option", { value: name, selected: name === this.game.policy }, name)));
    byId("policy-field").hidden = policies.length < 2;
    byId("slider").max = this.last;
    this.go(step);
  }

  /** Jump to a step, without flights. */
  go(step) {
    this.step = Math.min(Math.max(Number.isInteger(step) ? step : 0, 0), this.last);
    this.draw();
  }

  /** One step on, with its flights. */
  async advance() {
    const next = this.game.frames[this.step + 1];
    if (!next || this.flying) return;
    this.flying = true;
    const at = this.step;
    await this.board.fly(this.effects(next));
    this.flying = false;
    if (this.step === at) this.go(at + 1);
  }

  async run(on = !this.running) {
    this.running = on;
    byId("run").replaceChildren(on ? "Pause" : "▶ Play");
    byId("run").setAttribute("aria-label", on ? "pause" : "play");
    const game = this.game;
    while (this.running && game === this.game && this.step < game.frames.length - 1) {
      await this.advance();
      await pause(BEAT);
    }
    if (this.running && game === this.game) this.run(false);
  }

  sees(seat) {
    return this.viewer === "all" || Number(this.viewer) === seat;
  }

  effects(frame) {
    return this.sees(frame.player) ? frame.effects : frame.effects_closed;
  }

  /** The table as the chosen viewer sees it: the frame holds each seat as others, its owner, and all see it. */
  table(frame) {
    const seats = frame.table.seats.map(([closed, own, open], seat) => {
      const owners = own ?? closed;
      if (this.viewer === "all") return open ?? owners;
      return this.sees(seat) ? owners : closed;
    });
    const sees = this.sees(frame.table.player);
    return { ...frame.table, seats, said: sees ? frame.table.said : frame.table.said_closed, legal: sees ? frame.table.legal : [] };
  }

  draw() {
    const frame = this.game.frames[this.step];
    const viewer = this.viewer === "all" || this.viewer === "none" ? null : Number(this.viewer);
    const view = { table: this.table(frame), names: this.game.players, rules: this.game.rules, viewer, you: null };
    this.board.draw(view, false);
    byId("slider").value = this.step;
    byId("slider").setAttribute("aria-valuetext", `step ${this.step} of ${this.last}`);
    byId("step").textContent = `${this.step} / ${this.last}`;
    byId("status").textContent = this.game.outcome && !frame.action ? this.result() : describeTurn(view);
    byId("advice").replaceChildren(...this.decision(frame, view));
    byId("log").replaceChildren(...this.log(view));
    byId("log").scrollTop = byId("log").scrollHeight;
    const address = new URLSearchParams(location.hash.slice(1));
    const record = address.get("record");
    const place = `game=${this.number}&step=${this.step}&view=${this.viewer}${record ? `&record=${record}` : ""}`;
    history.replaceState(null, "", `#${place}`);
  }

  result() {
    const { places, scores } = this.game.outcome;
    return `The game is over. ${places.map((place, seat) => `${seatName({ names: this.game.players }, seat)}: place ${place ?? "–"}, ${scores[seat]} points`).join("; ")}.`;
  }

  /** The legal actions, the one that was taken, and how likely the policy would have taken each. */
  decision(frame, view) {
    if (!frame.action) return [h("p", { class: "note" }, this.game.unfinished ? "The record ends here." : "The game is over.")];
    if (!this.sees(frame.table.player)) return [h("p", { class: "note" }, `${seatName(view, frame.table.player)} decides; what is legal tells of the hand.`)];
    const chances = new Map(frame.advice ?? []);
    const likeliest = Math.max(...chances.values());
    const rows = frame.table.legal.map((action) => {
      const taken = action === frame.action;
      const chance = chances.get(action);
      return h(
        "tr",
        { class: `${taken ? "taken" : ""} ${chance === likeliest ? "likeliest" : ""}` },
        h("th", { scope: "row" }, actionName(action), taken ? h("span", { class: "tag" }, "taken") : null),
        chance === undefined ? null : h("td", {}, ...drawShare(chance)),
      );
    });
    const head = ["action", ...(chances.size ? [`${this.game.policy} would`] : [])];
    return [
      h("p", { class: "note" }, `${seatName(view, frame.table.player)}, decision ${frame.decision}`),
      h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows)),
    ];
  }

  log(view) {
    const items = [];
    for (const [step, frame] of this.game.frames.slice(0, this.step + 1).entries()) {
      const lines = drawEffects(this.effects(frame), (seat) => seatName(view, seat));
      if (step === this.step) lines.forEach((line) => line.classList.add("now"));
      items.push(...lines);
    }
    return items.slice(-200);
  }

  /** A link to this position. Where the server made the frames it carries the record, so that it works for anyone. */
  async link() {
    if (!this.lines.length) return location.href;
    const record = await pack(this.lines[this.number]);
    const page = new URL(location.href);
    page.hash = `game=0&step=${this.step}&view=${this.viewer}&record=${record}`;
    return page.href;
  }
}

// The page

const replay = new Replay();

async function read(text, policy = null) {
  byId("error").textContent = "";
  try {
    const path = policy === null ? "/api/replay" : `/api/replay?policy=${encodeURIComponent(policy)}`;
    const { games } = await request(path, { text });
    replay.open(games, text.split("\n").filter((line) => line.trim()));
  } catch (error) {
    byId("chooser").hidden = false;
    byId("error").textContent = error.message;
  }
}

async function readFile(file) {
  history.replaceState(null, "", location.pathname);
  await read(await file.text());
}

async function follow() {
  const record = new URLSearchParams(location.hash.slice(1)).get("record");
  if (record === null) return;
  await unpack(record).then(read, () => {
    byId("error").textContent = "This link is damaged: the record in it cannot be read.";
  });
}

function listen() {
  const step = (by) => () => (by === 1 ? replay.advance() : replay.go(replay.step + by));
  byId("first").addEventListener("click", () => replay.go(0));
  byId("last").addEventListener("click", () => replay.go(replay.last));
  byId("back").addEventListener("click", step(-1));
  byId("forth").addEventListener("click", step(1));
  byId("run").addEventListener("click", () => replay.run());
  byId("slider").addEventListener("input", () => replay.go(Number(byId("slider").value)));
  byId("number").addEventListener("change", () => replay.choose(Number(byId("number").value), 0, replay.viewer));
  byId("viewer").addEventListener("change", () => replay.choose(replay.number, replay.step, byId("viewer").value));
  byId("policy").addEventListener("change", () => read(replay.lines.join("\n"), byId("policy").value));
  byId("link").addEventListener("click", copyLink);
  byId("file").addEventListener("change", () => readFile(byId("file").files[0]));
  byId("show-help").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", onKey);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0] && !embedded) readFile(event.dataTransfer.files[0]);
  });
  addEventListener("hashchange", () => (replay.games.length ? replay.open(replay.games, replay.lines) : follow()));
}

async function copyLink() {
  const link = await replay.link();
  await navigator.clipboard.writeText(link).then(
    () => (byId("link").textContent = "Copied"),
    () => prompt("A link to this position:", link),
  );
  await pause(1500);
  byId("link").textContent = "Copy a link to this position";
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, textarea, dialog[open], input:not([type=range])")) return;
  if (event.key === "?") return byId("help").showModal();
  if (!replay.games.length) return;
  const steps = { ArrowLeft: -1, PageUp: -10, PageDown: 10 };
  if (event.key === "ArrowRight") replay.advance();
  else if (event.key in steps) replay.go(replay.step + steps[event.key]);
  else if (event.key === "Home") replay.go(0);
  else if (event.key === "End") replay.go(replay.last);
  else if (event.key === " " && !event.target.closest("button")) replay.run();
  else if (event.key === "v") {
    const { options, selectedIndex } = byId("viewer");
    replay.choose(replay.number, replay.step, options[(selectedIndex + 1) % options.length].value);
  } else return;
  event.preventDefault();
}

const embedded = byId("embedded");
listen();
if (embedded) replay.open(JSON.parse(embedded.textContent).games, []);
else {
  byId("chooser").hidden = false;
  follow();
}
