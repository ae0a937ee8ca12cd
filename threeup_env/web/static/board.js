// The table: drawn afresh from each frame, with the legal actions as buttons, and cards that fly between frames.

import { actionName, cardName, colorName, drawCard, drawChips, h, isFaceUp, kindName, kindOf, parse } from "./cards.js";

const FLIGHT = 340; // milliseconds that a card is in the air
const SHOWN_PILE = 7; // cards of the pile that are drawn

/**
 * What a page shows: `{table, names, rules, viewer, people}`, where `viewer` is the seat that looks (null for nobody),
 * and with `onaction` the legal actions can be clicked.
 */
export class Board {
  constructor(root, onaction = null) {
    this.root = root;
    this.onaction = onaction;
    this.skipping = false;
  }

  /** Draw a view; `active` lights the legal actions. */
  draw(view, active) {
    const clicks = active ? new Clicks(view) : new Clicks({ ...view, table: { ...view.table, legal: [] } });
    const { table, rules } = view;
    const n = table.seats.length;
    const bottom = view.viewer ?? 0;
    const others = Array.from({ length: n - 1 }, (_, i) => (bottom + 1 + i) % n);
    this.root.replaceChildren(
      h("div", { class: "others", "data-count": n - 1 }, ...others.map((seat) => this.#seat(view, seat, clicks, false))),
      this.#middle(table, rules, clicks),
      this.#seat(view, bottom, clicks, true),
    );
    this.#light();
  }

  #seat(view, seat, clicks, own) {
    const { table } = view;
    const it = table.seats[seat];
    const deciding = table.player === seat;
    const target = clicks.target(seat);
    const about = `${seatName(view, seat)}: ${it.hand.length} in hand${deciding ? ", to decide" : ""}`;
    const head = h(
      "header",
      {},
      h("span", { class: "dot", "aria-hidden": "true" }),
      h("strong", {}, seatName(view, seat)),
      h("span", { class: "count" }, `${it.hand.length} in hand`),
      view.rules.rounds > 1 ? h("span", { class: "count" }, `${it.total} points`) : null,
      it.place ? h("span", { class: "place" }, `place ${it.place}`) : null,
      target ? this.#button(target, `target ${seatName(view, seat)}`) : null,
    );
    const hand = it.hand_open ? clicks.hand(seat) : it.hand.map((card) => ({ card }));
    return h(
      "section",
      { class: `seat ${own ? "own" : "other"} ${deciding ? "deciding" : ""}`, "aria-label": about, "data-seat": seat },
      head,
      h(
        "div",
        { class: "zones" },
        h(
          "div",
          { class: "piles", "data-zone": `piles-${seat}` },
          h("div", { class: "up", "data-zone": `up-${seat}`, role: "group", "aria-label": "3UP" }, ...this.#places(clicks.up(seat), view.rules.table_cards)),
          h("div", { class: `down ${it.down.some(isFaceUp) ? "known" : ""}`, "data-zone": `down-${seat}`, role: "group", "aria-label": "3DOWN" }, ...clicks.down(seat).map((one) => this.#card(one))),
        ),
        h("div", { class: `hand ${hand.length > 8 ? "many" : ""}`, "data-zone": `hand-${seat}`, role: "group", "aria-label": "hand" }, ...hand.map((one) => this.#card(one))),
      ),
    );
  }

  #places(cards, places) {
    const empty = Array.from({ length: places - cards.length }, () => h("span", { class: "card gap", "aria-hidden": "true" }));
    return [...cards.map((one) => this.#card(one)), ...empty];
  }

  #card({ card, action = null, label }) {
    return drawCard(card, { action, onaction: this.onaction, ...(label ? { label } : {}) });
  }

  #button(action, text) {
    return h("button", { class: "legal", type: "button", "data-action": action, onclick: () => this.onaction(action) }, text);
  }

  #middle(table, rules, clicks) {
    const draw = clicks.plain("draw");
    const take = clicks.plain("take");
    const top = table.pile.length ? kindOf(table.pile.at(-1)) : null;
    const pileLabel = top ? `discard pile, ${table.pile.length} cards, top ${kindName(top)}` : "discard pile, empty";
    const shown = table.pile.slice(-SHOWN_PILE);
    const pile = [
      h("span", { class: "fan", "aria-hidden": "true" }, ...(shown.length ? shown : ["."]).map((card) => drawCard(card))),
      h("span", { class: "caption" }, top ? `pile ${table.pile.length}` : "pile"),
    ];
    const stack = [
      h("span", { class: "fan stack", "aria-hidden": "true" }, drawCard(table.draw_pile ? "?" : ".")),
      h("span", { class: "caption" }, `draw pile ${table.draw_pile}`),
    ];
    return h(
      "div",
      { class: "middle" },
      this.#heap("draw", draw, `draw pile, ${table.draw_pile} cards`, stack),
      this.#heap("pile", take, pileLabel, pile),
      h(
        "details",
        { class: "removed", "data-zone": "removed" },
        h("summary", {}, `removed ${table.removed.length}`),
        h("p", {}, ...(table.removed.length ? drawChips(table.removed) : ["nothing yet"])),
      ),
      h("p", { class: "facts" }, ...facts(table, rules).map((fact) => h("span", {}, fact))),
    );
  }

  #heap(zone, action, label, children) {
    if (!action) return h("div", { class: "heap", "data-zone": zone, role: "img", "aria-label": label }, ...children);
    return h(
      "button",
      { class: "heap legal", type: "button", "data-zone": zone, "data-action": action, "aria-label": `${actionName(action)} (${label})`, onclick: () => this.onaction(action) },
      ...children,
    );
  }

  /** Copies that would be played together light up together. */
  #light() {
    for (const card of this.root.querySelectorAll("button.card")) {
      const group = () => {
        const copies = [...card.parentElement.querySelectorAll("button.card")].filter((one) => kindOf(one.dataset.card) === kindOf(card.dataset.card));
        const count = Number(card.dataset.action.split("x")[1] ?? 1);
        return card.dataset.action.startsWith("play") && count > 1 ? copies.slice(0, count) : [card];
      };
      const mark = (on) => group().forEach((one) => one.classList.toggle("picked", on));
      card.addEventListener("pointerenter", () => mark(true));
      card.addEventListener("pointerleave", () => mark(false));
      card.addEventListener("focus", () => mark(true));
      card.addEventListener("blur", () => mark(false));
    }
  }

  /** Let the effects of the next frame play over the table as it is drawn now. */
  async fly(effects, speed = 1) {
    if (this.skipping || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const layer = h("div", { class: "flights", "aria-hidden": "true" });
    this.root.append(layer);
    for (const effect of effects) {
      const moves = this.#moves(effect);
      if (moves.length === 0) continue;
      await Promise.all(moves.map((move, i) => this.#flight(layer, move, i, speed)));
      if (effect.kind === "clear" || effect.kind === "take") layer.replaceChildren();
    }
    layer.remove();
  }

  #zone(name) {
    return this.root.querySelector(`[data-zone="${name}"]`);
  }

  /** Where the cards of an effect fly from and to. */
  #moves({ kind, seat, cards = [], count = 0 }) {
    const hand = this.#zone(`hand-${seat}`);
    const pile = this.#zone("pile")?.querySelector(".fan");
    const from = (card) => {
      const zones = hand?.childElementCount ? [hand] : [this.#zone(`up-${seat}`), this.#zone(`down-${seat}`)];
      const held = zones.flatMap((zone) => [...(zone?.querySelectorAll(".card:not(.empty, .gap, .gone)") ?? [])]);
      const one = held.find((it) => it.dataset.card === card) ?? held.find((it) => it.dataset.card === kindOf(card)) ?? held.at(-1) ?? hand;
      one?.classList.add("gone");
      return one;
    };
    const some = cards.slice(-SHOWN_PILE);
    switch (kind) {
      case "play":
        return some.map((card) => ({ card, from: from(card), to: pile }));
      case "flip":
        return some.map((card) => ({ card, from: this.#zone(`down-${seat}`), to: pile }));
      case "fail":
        return some.map((card) => ({ card, from: this.#zone(`down-${seat}`), to: hand }));
      case "up":
        return some.map((card) => ({ card, from: from(card), to: this.#zone(`up-${seat}`) }));
      case "exchange": {
        const [put, taken] = cards;
        const place = this.root.querySelector(`.up [data-card="${taken}"]`);
        return put ? [{ card: put, from: from(put), to: place }, { card: taken, from: place, to: hand }] : [];
      }
      case "take":
        return some.map((card) => ({ card, from: pile, to: hand }));
      case "draw":
        return (some.length ? some : Array(count).fill("?")).map((card) => ({ card, from: this.#zone("draw"), to: hand }));
      case "clear":
        this.#zone("pile")?.classList.add("cleared");
        return some.map((card) => ({ card, from: pile, to: this.#zone("removed") }));
      default:
        return [];
    }
  }

  async #flight(layer, { card, from, to }, order, speed) {
    if (!from || !to || this.skipping) return;
    const [home, start, end] = [this.root, from, to].map((element) => element.getBoundingClientRect());
    const ghost = drawCard(card);
    layer.append(ghost);
    const size = ghost.getBoundingClientRect();
    const at = (box) => {
      const x = box.left - home.left + (box.width - size.width) / 2;
      const y = box.top - home.top + (box.height - size.height) / 2;
      return `translate(${x}px, ${y}px)`;
    };
    const timing = { duration: FLIGHT / speed, delay: (60 * order) / speed, easing: "cubic-bezier(.3,.8,.3,1)", fill: "both" };
    const flight = ghost.animate([{ transform: at(start) }, { transform: at(end) }], timing);
    // Pages in the background get no animation frames: never wait for one longer than it takes.
    await Promise.race([flight.finished, pause(timing.duration + timing.delay + 100)]).catch(() => {});
  }
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What a seat is called. */
export function seatName(view, seat) {
  const name = view.names?.[seat];
  if (view.you === seat) return "You";
  return name ? `Seat ${seat} · ${name}` : `Seat ${seat}`;
}

function facts(table, rules) {
  const list = [`${table.decisions_left} decisions left`];
  if (rules.rounds > 1) list.unshift(`deal ${table.deal + 1} of ${rules.rounds}`);
  if (rules.reverse_ones) list.push(table.direction > 0 ? "clockwise ↻" : "counterclockwise ↺");
  if (table.row) list.push(`row of ${table.row} in one colour`);
  if (table.extras) list.push(`${table.extras} extra${table.extras > 1 ? "s" : ""} owed`);
  return list;
}

/** What is to be decided, in a sentence. */
export function describeTurn(view) {
  const { table } = view;
  if (table.player === null) return "The game is over.";
  const who = seatName(view, table.player);
  const yours = view.you === table.player;
  const owed = table.extras ? ` ${table.extras} extra${table.extras > 1 ? "s are" : " is"} owed.` : "";
  const said = table.said.length ? ` Said so far: ${table.said.map(actionName).join(", ")}.` : "";
  const top = table.pile.length ? kindOf(table.pile.at(-1)) : null;
  const what = {
    "set-up": "choose a card to lie face up",
    turn: top ? `play, the pile shows ${top}` : "play, the pile is empty",
    "sabotage: target": "choose a player to sabotage, or pass",
    "sabotage: want": "choose the 3UP card to take",
    "sabotage: give": "choose the hand card to put in its place",
    "exchange: give": "exchange a hand card for a 3UP card, or pass",
    "exchange: want": "choose the 3UP card to take up",
  }[table.phase];
  return (yours ? `Your turn: ${yourChoice(table, what)}.` : `${who} is to ${what}.`) + owed + said;
}

function yourChoice({ legal, extras }, what) {
  if (legal[0]?.startsWith("color")) return "say the colour of the card";
  if (legal.every((action) => action === "take")) return "nothing can be played, take the pile";
  if (legal.every((action) => action.startsWith("flip"))) return "turn over a 3DOWN card";
  if (extras && legal.includes("draw")) return `${what}; you may draw first`;
  return what;
}

/** Which cards and places stand for which legal action. */
class Clicks {
  constructor({ table, viewer, rules }) {
    this.table = table;
    this.legal = new Set(table.legal);
    this.player = table.player;
    this.n = table.seats.length;
    this.viewer = viewer;
    this.rules = rules;
    const asked = table.legal[0]?.startsWith("color");
    this.pending = asked ? table.said.filter((part) => !part.startsWith("color")).at(-1) ?? "" : "";
    const target = table.said.find((part) => part.startsWith("target"));
    this.victim = target ? (this.player + Number(target.split(" ")[1])) % this.n : null;
  }

  plain(action) {
    return this.legal.has(action) ? action : null;
  }

  target(seat) {
    return this.plain(`target ${(seat - (this.player ?? 0) + this.n) % this.n}`);
  }

  hand(seat) {
    const cards = this.table.seats[seat].hand;
    return this.#withActions(cards, seat === this.player ? ["play", "up", "give"] : []);
  }

  up(seat) {
    const { up, hand } = this.table.seats[seat];
    const verbs = [];
    if (seat === this.player && hand.length === 0) verbs.push("play");
    if (seat === (this.victim ?? this.player)) verbs.push("want");
    return this.#withActions(up, verbs);
  }

  down(seat) {
    return this.table.seats[seat].down.map((card, slot) => ({
      card,
      action: seat === this.player ? this.plain(`flip ${slot}`) : null,
      label: `3DOWN card ${slot + 1}: ${cardName(card)}`,
    }));
  }

  #withActions(cards, verbs) {
    const copies = new Map();
    return cards.map((card) => {
      if (!isFaceUp(card)) return { card };
      const { color, kind } = parse(card);
      const copy = (copies.get(kind) ?? 0) + 1;
      copies.set(kind, copy);
      return { card, action: this.#action(verbs, kind, color, copy) };
    });
  }

  /** The copy of a kind that is clicked says how many are played. */
  #action(verbs, kind, color, copy) {
    if (this.pending) {
      const [verb, what] = this.pending.split(" ");
      const asked = verbs.includes(verb) && what.split("x")[0] === kind;
      return asked ? this.plain(`color ${color}`) : null;
    }
    for (const verb of verbs) {
      for (let count = copy; count > 1 && verb === "play"; count--) {
        if (this.legal.has(`play ${kind}x${count}`)) return `play ${kind}x${count}`;
      }
      if (this.legal.has(`${verb} ${kind}`)) return `${verb} ${kind}`;
    }
    return null;
  }
}

/** The row of all legal actions, with their keys. */
export function drawActions(legal, onaction) {
  return legal.map((action, index) =>
    h(
      "button",
      { type: "button", class: `action ${action.startsWith("color") ? colorName(action.slice(6)) : ""}`, "data-action": action, "aria-keyshortcuts": index < 9 ? index + 1 : null, onclick: () => onaction(action) },
      index < 9 ? h("kbd", { "aria-hidden": "true" }, `${index + 1}`) : null,
      actionName(action),
    ),
  );
}

/** A probability as a bar and a figure. */
export function drawShare(share) {
  const bar = h("span", { class: "share", "aria-hidden": "true" });
  bar.style.setProperty("--share", share);
  return [bar, h("span", { class: "figure" }, `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`)];
}
