// A table to play at: one seat's view, its legal actions, the coach and the log.

import { download, pack, Refusal, request } from "./api.js";
import { Board, describeTurn, drawActions, drawShare, pause, seatName } from "./board.js";
import { actionName, drawEffects, h } from "./cards.js";

const POLL = 1000; // milliseconds between questions while another person decides
const PERSON = "human";
const byId = (id) => document.getElementById(id);

// Setting up a table

class Setup {
  constructor(options) {
    this.envs = options.envs.map(({ id, num_players }) => ({ id, num_players, family: id.replace(/^.*\/|-?\dp-.*$/g, "") }));
    const families = [...new Set(this.envs.map((env) => env.family))];
    byId("family").replaceChildren(...families.map((family) => h("option", { value: family }, family || "Standard")));
    for (const id of ["family", "count", "own"]) byId(id).addEventListener("change", () => (this.updated = this.update()));
    byId("setup").addEventListener("submit", (event) => {
      event.preventDefault();
      this.open();
    });
    this.updated = this.update();
    byId("setup").hidden = false;
  }

  get env() {
    return this.envs.find((env) => env.family === byId("family").value && String(env.num_players) === byId("count").value);
  }

  /** Fill what hangs on what was chosen. */
  async update() {
    const sizes = this.envs.filter((env) => env.family === byId("family").value).map((env) => env.num_players);
    choices(byId("count"), sizes);
    const env = this.env;
    const seats = Array.from({ length: env.num_players }, (_, seat) => seat);
    choices(byId("own"), seats);
    const { players } = await request(`/api/fitting?env=${encodeURIComponent(env.id)}`);
    if (env !== this.env) return; // chosen anew while the server thought: the later answer counts, whichever comes last
    const before = new Map([...byId("players").querySelectorAll("select")].map((select) => [select.name, select.value]));
    const own = Number(byId("own").value);
    const fields = seats.filter((seat) => seat !== own).map((seat) => {
      const select = h("select", { name: seat });
      choices(select, players.filter((name) => name !== PERSON), before.get(String(seat)) ?? "greedy");
      select.append(h("option", { value: PERSON, selected: before.get(String(seat)) === PERSON }, "another person"));
      return h("label", {}, `Seat ${seat}`, select);
    });
    byId("players").replaceChildren(h("legend", {}, "Who else plays"), h("div", { class: "fields" }, ...fields));
  }

  async open() {
    const button = byId("setup").querySelector("[type=submit]");
    byId("setup-error").textContent = "";
    button.disabled = true;
    button.textContent = "Dealing …";
    try {
      await this.updated;
      const own = Number(byId("own").value);
      const players = Array(this.env.num_players).fill(PERSON);
      for (const select of byId("players").querySelectorAll("select")) players[Number(select.name)] = select.value;
      const body = { env: this.env.id, players };
      if (byId("seed").value) body.seed = Number(byId("seed").value);
      if (byId("switches").value) body.rules = JSON.parse(byId("switches").value);
      const { seats } = await request("/api/tables", { body });
      const others = seats.filter(({ seat }) => seat !== own);
      location.hash = `seat=${seats.find(({ seat }) => seat === own).token}`;
      await sit(others);
    } catch (error) {
      byId("setup-error").textContent = error instanceof SyntaxError ? `Switches: ${error.message}` : error.message;
    }
    button.disabled = false;
    button.textContent = "Deal the cards";
  }
}

function choices(select, values, chosen = select.value) {
  select.replaceChildren(...values.map((value) => h("option", { value, selected: String(value) === String(chosen) }, String(value))));
}

// Playing

class Game {
  constructor(token) {
    this.token = token;
    this.board = new Board(byId("board"), (action) => this.act(action));
    this.after = 0;
    this.view = null;
    this.busy = false;
    this.announced = false;
    this.focus = null; // where the focus was when the table went dark: "board" or "actions"
    byId("board").addEventListener("click", (event) => {
      if (event.target === byId("board")) this.board.skipping = true;
    });
  }

  async start() {
    const answer = await request("/api/seat", { token: this.token });
    this.view = { viewer: answer.seat, you: answer.seat, names: answer.names, rules: answer.rules, people: answer.people };
    byId("setup").hidden = true;
    byId("game").hidden = false;
    // What happened before is written down, not read out.
    byId("log").setAttribute("aria-live", "off");
    answer.frames.forEach((frame) => this.log(frame));
    const last = answer.frames.at(-1);
    this.settle(answer, last.table);
    byId("log").setAttribute("aria-live", "polite");
    const { coaches } = await request("/api/seat/coach", { token: this.token });
    const names = (what) => coaches.filter(({ tells }) => tells === what).map(({ name }) => name);
    this.searches = names("values");
    choices(byId("coach-name"), names("probabilities"));
    byId("coach-name").hidden = names("probabilities").length < 2;
    byId("coach-toggle").disabled = coaches.length === 0;
    if (coaches.length === 0) byId("coach-toggle").title = "nobody can advise under these rules";
    this.advise();
    this.poll();
  }

  async act(action) {
    if (this.busy || !this.view.table.legal.includes(action)) return;
    this.busy = true;
    byId("error").textContent = "";
    try {
      const body = { made: this.made, action, after: this.after };
      await this.show(await request("/api/seat/act", { token: this.token, body }));
    } catch (error) {
      await this.fail(error);
    } finally {
      this.busy = false;
    }
    this.advise();
  }

  /** Frame by frame, each with its flights. */
  async show(answer) {
    const speed = answer.frames.length > 12 ? 3 : 1;
    this.board.skipping = false;
    for (const frame of answer.frames) {
      this.draw(this.view.table, false);
      await this.board.fly(frame.effects, speed);
      this.log(frame);
      this.draw(frame.table, false);
      if (!this.board.skipping) await pause(calm() ? 60 : 160 / speed);
    }
    this.settle(answer, answer.frames.at(-1)?.table ?? this.view.table);
  }

  /** The table stands still: light what may be done. */
  settle(answer, table) {
    this.after = answer.next;
    this.made = answer.made;
    this.outcome = answer.outcome;
    this.draw(table, true);
    if (answer.outcome && !this.announced) this.end();
  }

  draw(table, active) {
    const inBoard = byId("board").contains(document.activeElement);
    const inRow = byId("actions").contains(document.activeElement);
    this.view = { ...this.view, table };
    this.board.draw(this.view, active);
    byId("actions").replaceChildren(...(active ? drawActions(table.legal, (action) => this.act(action)) : []));
    const yours = active && table.player === this.view.you;
    byId("game").classList.toggle("yours", yours);
    byId("status").textContent = describeTurn(this.view);
    document.title = yours ? "● Your turn · 3UP 3DOWN" : "3UP 3DOWN";
    // Whoever plays by keys finds the focus where they left it: on the table, or in the row.
    if (inBoard || inRow) this.focus = inBoard ? "board" : "actions";
    if (active && this.focus) byId(this.focus).querySelector("[data-action]")?.focus({ preventScroll: true });
    if (active) this.focus = null;
  }

  log(frame) {
    const items = drawEffects(frame.effects, (seat) => seatName(this.view, seat));
    if (frame.player === this.view.you) items.forEach((item) => item.classList.add("own"));
    const log = byId("log");
    log.append(...items);
    while (log.childElementCount > 400) log.firstElementChild.remove();
    log.scrollTop = log.scrollHeight;
  }

  async fail(error) {
    byId("error").textContent = error.message;
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 404) return this.gone();
    if (error.status === 409) await this.refresh().catch(() => {});
    else this.draw(this.view.table, true);
  }

  gone() {
    byId("error").replaceChildren("This table is closed. ", h("a", { href: "/" }, "Open a new one"));
    byId("actions").replaceChildren();
  }

  async refresh() {
    const answer = await request(`/api/seat?after=${this.after}`, { token: this.token });
    if (answer.frames.length || answer.made !== this.made) await this.show(answer);
    return answer;
  }

  /** While another person is to decide, ask now and then. */
  async poll() {
    for (;;) {
      await pause(POLL);
      if (this.outcome) return;
      if (this.busy || document.hidden || this.view.table.player === this.view.you) continue;
      this.busy = true;
      const before = this.made;
      try {
        const answer = await this.refresh();
        if (answer.frames.length || before !== this.made) this.advise();
      } catch (error) {
        byId("error").textContent = error.message;
        if (error.status === 404) return this.gone();
      } finally {
        this.busy = false;
      }
    }
  }

  toggleCoach() {
    const panel = byId("coach");
    panel.hidden = !panel.hidden;
    byId("coach-toggle").setAttribute("aria-expanded", String(!panel.hidden));
    byId("coach-toggle").replaceChildren(panel.hidden ? "Show " : "Hide ", h("kbd", {}, "c"));
    this.advise();
  }

  /** Ask a policy for probabilities and a search for values, and show each answer when it is there. */
  async advise() {
    const panel = byId("coach");
    if (panel.hidden) return;
    if (this.view.table.player !== this.view.you) {
      panel.replaceChildren(h("p", { class: "note" }, "Advice comes with your next decision."));
      return;
    }
    const made = this.made;
    const policy = byId("coach-name").value;
    const names = [policy, ...this.searches].filter(Boolean);
    const rows = new Map(this.view.table.legal.map((action) => [action, { action }]));
    const said = [];
    panel.setAttribute("aria-busy", "true");
    await Promise.all(
      names.map(async (name) => {
        const answer = await request(`/api/seat/coach?name=${encodeURIComponent(name)}`, { token: this.token }).catch((error) => error);
        if (made !== this.made || policy !== byId("coach-name").value) return;
        if (answer instanceof Refusal) return panel.append(h("p", { class: "note" }, answer.message));
        for (const { action, ...figures } of answer.advice) {
          for (const [key, figure] of Object.entries(figures)) if (figure !== null) rows.get(action)[key] = figure;
        }
        said.push(name);
        panel.replaceChildren(drawAdvice([...rows.values()], (action) => this.act(action)), note([...rows.values()], said));
      }),
    );
    if (made === this.made) panel.setAttribute("aria-busy", "false");
  }

  end() {
    this.announced = true;
    const { places, scores } = this.outcome;
    const rows = places.map((place, seat) => ({ place, seat, score: scores[seat] })).sort((a, b) => (a.place ?? 99) - (b.place ?? 99));
    const won = places[this.view.you] === 1;
    byId("over-title").textContent = won ? "You win" : "The game is over";
    byId("result").replaceChildren(
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...["place", "player", "points left"].map((text) => h("th", { scope: "col" }, text)))),
        h(
          "tbody",
          {},
          ...rows.map(({ place, seat, score }) =>
            h("tr", { class: seat === this.view.you ? "own" : "" }, h("td", {}, String(place ?? "–")), h("td", {}, seatName(this.view, seat)), h("td", {}, String(score))),
          ),
        ),
      ),
    );
    byId("actions").replaceChildren(h("button", { type: "button", class: "action", onclick: () => byId("over").showModal() }, "Show the result"));
    byId("over").showModal();
  }

  async record() {
    return request("/api/seat/record", { token: this.token });
  }
}

/** Bars for probabilities and values; the likeliest action and the best one stand out. */
function drawAdvice(advice, onaction) {
  const told = (key) => advice.filter((one) => one[key] !== undefined).map((one) => one[key]);
  const [likeliest, best] = [Math.max(...told("probability")), Math.max(...told("value"))];
  const head = ["action", ...(told("probability").length ? ["probability"] : []), ...(told("value").length ? ["expected"] : [])];
  const row = ({ action, probability, value, visits }) =>
    h(
      "tr",
      { class: probability === likeliest ? "likeliest" : "" },
      h("th", { scope: "row" }, h("button", { type: "button", onclick: () => onaction(action) }, actionName(action))),
      probability === undefined ? null : h("td", {}, ...drawShare(probability)),
      value === undefined ? null : h("td", { class: value === best ? "value best" : "value", title: `${visits} simulations` }, signed(value)),
    );
  return h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...advice.map(row)));
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

function note(advice, names) {
  const visits = advice.reduce((sum, one) => sum + (one.visits ?? 0), 0);
  const values = visits ? ` Expected: the mean result of ${visits} simulated games, +1 for a win.` : "";
  return h("p", { class: "note" }, `${names.join(" and ")}, from what you can see.${values}`);
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The page

let game = null;

async function sit(others = []) {
  const token = new URLSearchParams(location.hash.slice(1)).get("seat");
  game = new Game(token);
  byId("invitations").hidden = others.length === 0;
  byId("invitations").replaceChildren(
    h("p", {}, "Send these links to the others; whoever has a link sees that seat's cards."),
    ...others.map(({ seat, token }) => h("p", {}, `Seat ${seat}: `, h("a", { href: `/#seat=${token}`, target: "_blank" }, `${location.origin}/#seat=${token}`))),
  );
  await game.start();
}

async function open() {
  const help = byId("help");
  byId("show-help").addEventListener("click", () => help.showModal());
  byId("coach-toggle").addEventListener("click", () => game.toggleCoach());
  byId("coach-name").addEventListener("change", () => game.advise());
  byId("again").addEventListener("click", () => location.assign("/"));
  byId("save").addEventListener("click", async () => download("threeup.jsonl", await game.record()));
  byId("watch").addEventListener("click", async () => location.assign(`/replay#record=${await pack(await game.record())}&step=0`));
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    const token = new URLSearchParams(location.hash.slice(1)).get("seat");
    if (token && token !== game?.token) location.reload();
  });
  if (location.hash.includes("seat=")) {
    try {
      await sit();
      return;
    } catch (error) {
      history.replaceState(null, "", "/");
      byId("setup-error").textContent = error.message;
    }
  }
  const setup = new Setup(await request("/api/options"));
  await setup.updated;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog[open]")) return;
  if (event.key === "?") return byId("help").showModal();
  if (!game) return;
  const buttons = [...byId("actions").querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (/^[1-9]$/.test(event.key)) {
    buttons[Number(event.key) - 1]?.click();
  } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const step = event.key === "ArrowRight" ? 1 : -1;
    buttons.at(at < 0 ? (step > 0 ? 0 : -1) : (at + step) % buttons.length)?.focus();
    event.preventDefault();
  } else if (event.key === "c" && !byId("coach-toggle").disabled) game.toggleCoach();
  else if (event.key === "s") game.board.skipping = true;
}

open();
