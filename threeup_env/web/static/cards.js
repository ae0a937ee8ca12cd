// Cards, and the words for them: what every page draws with.

const COLORS = { g: "green", r: "red", b: "blue" };
const GLYPHS = { g: "▲", r: "▼", b: "●" };
const KINDS = { C: "Clear", "C+1": "Clear +1", "C+2": "Clear +2" };
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven"];
const CARD = /\b[grb](?:10|[1-9]|C(?:\+[12])?)(?![\w+])/g;

/** An element: `h("p", {class: "note", onclick: f}, "text", child)`; text is never read as HTML. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** `g10` or `10` as {color, kind}; the colour is null where only the kind is known. */
export function parse(card) {
  return card[0] in COLORS ? { color: card[0], kind: card.slice(1) } : { color: null, kind: card };
}

export const kindOf = (card) => parse(card).kind;
export const kindName = (kind) => KINDS[kind] ?? kind;
export const colorName = (color) => COLORS[color];
export const isFaceUp = (card) => card !== "?" && card !== "?*" && card !== ".";

export function cardName(card) {
  if (card === "?") return "hidden card";
  if (card === "?*") return "hidden card that its owner has seen";
  if (card === ".") return "empty place";
  const { color, kind } = parse(card);
  return color ? `${COLORS[color]} ${kindName(kind)}` : `${kindName(kind)}, colour unknown`;
}

/** An action in words: `play two 7s` for `play 7x2`. */
export function actionName(action) {
  const [verb, what = ""] = action.split(" ");
  if (verb === "play") {
    const [kind, count = "1"] = what.split("x");
    return count === "1" ? `play ${kindName(kind)}` : `play ${NUMBERS[count]} ${kindName(kind)}s`;
  }
  if (verb === "take") return "take the pile";
  if (verb === "draw") return "draw";
  if (verb === "flip") return `turn over 3DOWN card ${Number(what) + 1}`;
  if (verb === "up") return `lay ${kindName(what)} face up`;
  if (verb === "give" || verb === "want") return `${verb} ${kindName(what)}`;
  if (verb === "target") return `target the ${["", "next", "2nd next", "3rd next", "4th next", "5th next"][what]} player`;
  if (verb === "color") return COLORS[what];
  return action;
}

/** A card to look at. With an `action` it is a button. */
export function drawCard(card, { action = null, onaction = null, label = cardName(card), mark = "" } = {}) {
  const { color, kind } = isFaceUp(card) ? parse(card) : { color: null, kind: "" };
  const look = !isFaceUp(card) ? (card === "." ? "empty" : "back") : COLORS[color] ?? "plain";
  const classes = `card ${look} ${action ? "legal" : ""} ${card === "?*" ? "seen" : ""} ${mark}`;
  const corner = [h("b", {}, kind), GLYPHS[color] ?? ""];
  const face = isFaceUp(card)
    ? [h("span", { class: "corner" }, ...corner), h("span", { class: kind in KINDS ? "kind clear" : "kind" }, ...bigKind(kind))]
    : [];
  const inside = h("span", { class: "face", "aria-hidden": "true" }, ...face);
  if (!action) return h("span", { class: classes, role: "img", "aria-label": label, "data-card": card }, inside);
  return h(
    "button",
    {
      class: classes,
      type: "button",
      "aria-label": `${actionName(action)} (${label})`,
      title: actionName(action),
      "data-card": card,
      "data-action": action,
      onclick: () => onaction(action),
    },
    inside,
  );
}

function bigKind(kind) {
  if (!(kind in KINDS)) return [kind];
  return ["Clear", ...(kind.length > 1 ? [h("b", {}, kind.slice(1))] : [])];
}

/** Text in which every written card (`g7`) becomes a small picture of it. */
export function drawText(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(CARD)) {
    const { color, kind } = parse(match[0]);
    parts.push(
      text.slice(end, match.index),
      h("span", { class: `chip ${COLORS[color]}`, role: "img", "aria-label": cardName(match[0]) }, `${kind}`),
    );
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

/** What happened, a line a frame: who, and the effects one after the other. */
export function drawEffects(effects, nameOf) {
  const lines = [];
  let line = null;
  for (const { seat = null, text, kind, cards = [] } of effects) {
    const fresh = line === null || line.seat !== seat;
    if (fresh) {
      line = { seat, element: h("li", { class: seat === null ? "all" : "" }) };
      if (seat !== null) line.element.append(h("b", {}, nameOf(seat)), " ");
      lines.push(line.element);
    }
    const words = kind === "play" && cards.length ? ["play ", ...drawChips(cards)] : drawText(text);
    line.element.append(...(fresh ? [] : ["; "]), ...words);
  }
  return lines;
}

/** Cards side by side as small pictures, equal ones counted. */
export function drawChips(cards) {
  const counts = new Map();
  for (const card of cards) counts.set(card, (counts.get(card) ?? 0) + 1);
  return [...counts].map(([card, count]) =>
    h("span", { class: "counted" }, ...drawText(card), count > 1 ? `×${count}` : ""),
  );
}
