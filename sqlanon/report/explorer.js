"use strict";
// The page of a lattice. Nodes come in the order in which a run prefers them, so the best one that fits is the first one.
// What is asked is `state`; all else follows from it. Names and labels reach the page as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const { columns, nodes } = data;
const width = columns.length, count = nodes.places.length;
const at = (id) => document.getElementById(id);

// Losses are differences, and a place in the lattice is a number in mixed radix: the last column changes first.
const added = (differences) => { let sum = 0; return differences.map((each) => (sum += each)); };
const levels = new Uint8Array(count * width);
for (let node = 0; node < count; node++) {
  let rest = nodes.places[node];
  for (let column = width - 1; column >= 0; column--) {
    const { least, most } = columns[column], choices = most - least + 1;
    levels[node * width + column] = least + rest % choices;
    rest = Math.floor(rest / choices);
  }
}
const level = (node, column) => levels[node * width + column];
const levelsOf = (node) => [...levels.subarray(node * width, (node + 1) * width)];

// What is known of the nodes at a k: their order, and by node what is lost and how many rows are left out. At a
// greater k than that of the policy it was counted for the nodes that attain it; else it is that of the policy.
const ofPolicy = {
  order: nodes.places.map((_, node) => node), losses: Float64Array.from(added(nodes.losses)), left: nodes.suppressed_rows,
};
const known = new Map([[data.k, ofPolicy]]);
for (const { k, order, losses: differences, suppressed_rows } of data.others) {
  const losses = ofPolicy.losses.slice(), left = [...ofPolicy.left], at = added(differences);
  order.forEach((node, index) => { losses[node] = at[index]; left[node] = suppressed_rows[index]; });
  known.set(k, { order, losses, left });
}
const knownAt = (k) => known.get(k) ?? ofPolicy;

// k is asked for; caps has the most general level that is allowed of each column; taken is a node chosen by hand, or -1.
const state = { k: data.k, caps: columns.map((column) => column.most), taken: -1 };

// What follows from what is asked: which nodes fit, the best one, the best one at each level of a column while the other
// columns stay as they are asked for, and the best one at each k.
function found() {
  const fits = new Uint8Array(count), bestAt = columns.map(() => []), bestBy = new Map();
  const above = new Uint8Array(count), last = new Int16Array(count);  // columns above what is asked: how many, and which
  for (let node = 0; node < count; node++) {
    for (let column = 0; column < width; column++) {
      if (level(node, column) > state.caps[column]) { above[node]++; last[node] = column; }
    }
  }
  let best = -1, fitting = 0;
  for (const node of knownAt(state.k).order) {
    if (nodes.best_k[node] < state.k || above[node] > 1) continue;
    if (above[node] === 0) {
      fits[node] = 1;
      fitting++;
      if (best < 0) best = node;
    }
    for (let column = 0; column < width; column++) {
      if (above[node] === 0 || column === last[node]) bestAt[column][level(node, column)] ??= node;
    }
  }
  for (const k of data.asked) {
    const node = knownAt(k).order.find((each) => above[each] === 0 && nodes.best_k[each] >= k);
    if (node !== undefined) bestBy.set(k, node);
  }
  return { fits, best, fitting, bestBy, bestAt };
}

// The least loss of a node whose level of a column is at most this one; infinite if there is none.
const leastUpTo = (ofLevels, most) =>
  ofLevels.slice(0, most + 1).reduce((least, node) => Math.min(least, now.losses[node]), Infinity);

const noun = count < data.node_count ? "shown node" : "node";
const counted = (number) => number.toLocaleString("en");
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const inWords = (units) => data.is_share
  ? percent(units * data.loss_unit)
  : (units * data.loss_unit).toLocaleString("en", { maximumSignificantDigits: 6 });

// Whether a node was counted at the k that is asked for.
const isCounted = (node) => state.k === data.k || (known.has(state.k) && nodes.best_k[node] >= state.k);

// The rows that are left out at the k that is asked for. Where they were counted at the k of the policy alone, they are at
// least or at most as many, and within the limit if the node attains that k.
function leftOut(node) {
  const rows = now.left[node], limit = percent(data.allowed_rows / data.row_count);
  const words = rows === null ? `under ${data.k} rows` : percent(rows / data.row_count);
  if (isCounted(node)) return words;
  if (nodes.best_k[node] < 1) return "–";
  if (nodes.best_k[node] < state.k) return `over ${limit}`;
  if (data.allowed_rows === 0) return percent(0);
  if (state.k > data.k) return rows === 0 ? `up to ${limit}` : `${words} to ${limit}`;
  return rows === 0 ? words : rows > data.allowed_rows ? `up to ${limit}` : rows === null ? words : `up to ${words}`;
}

// As Python's shlex.quote.
const quoted = (word) => (/^[\w@%+=:,.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

function command(verb, more) {
  const [source, ...words] = data.command;
  const given = state.k === data.policy_k ? [] : ["--k", `${state.k}`];
  const ends = source.startsWith("-") ? ["--", source] : [];
  return ["sqlanon", verb, ...(ends.length ? [] : [source]), ...words, ...given, ...more, ...ends].map(quoted).join(" ");
}

function toRun(node) {
  const chosen = columns.map((column, index) => [column.name, level(node, index)]);
  if (!data.command.length) {
    const asked = state.k === data.policy_k ? "policy" : `policy.with_k(${state.k})`;
    const pairs = chosen.map(([name, of]) => `${JSON.stringify(name)}: ${of}`).join(", ");
    return `session.anonymize(source, ${asked}, "release_k${state.k}", node={${pairs}})`;
  }
  const target = `release_k${state.k}${data.command.includes("--db") ? "" : ".parquet"}`;
  return command("run", ["--node", chosen.map(([name, of]) => `${name}=${of}`).join(","), "--into", target]);
}

// The rows of the columns are made once: a button for each level.
const rows = columns.map((column, index) => {
  const row = at("columns").insertRow(), name = document.createElement("th");
  name.scope = "row";
  // Lines break behind an underscore.
  name.append(...column.shown.split(/(?<=_)/).flatMap((part) => [part, document.createElement("wbr")]));
  row.append(name);
  const choices = row.insertCell(), example = row.insertCell(), buttons = [];
  for (let to = column.least; to <= column.most; to++) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = to;
    button.onclick = () => {
      state.caps[index] = state.caps[index] === to ? column.most : to;
      state.taken = -1;
      show();
    };
    buttons.push(button);
    choices.append(button);
  }
  return { buttons, example };
});

let now, chosen, linked;  // what follows from the state, the node that is shown, and the timer of the link

function show() {
  now = { ...knownAt(state.k), ...found() };
  chosen = state.taken < 0 ? now.best : state.taken;
  at("k").value = data.asked.indexOf(state.k);
  at("k").setAttribute("aria-valuetext", `k = ${state.k}`);
  at("asked").textContent = state.k;
  at("count").textContent = `${counted(now.fitting)} of ${counted(count)} ${noun}s fit. The loss is ${data.measure}.`;
  showColumns();
  showNode();
  showLeast();
  draw();
  if (location.protocol === "about:") return;  // in the frame of a notebook the page has no address of its own
  // Browsers refuse a link that changes with every step of a slider.
  clearTimeout(linked);
  linked = setTimeout(() => history.replaceState(null, "", fragment()), 250);
}

function showColumns() {
  columns.forEach((column, index) => {
    const isAsked = state.caps[index] < column.most;
    rows[index].buttons.forEach((button, step) => {
      const to = column.least + step, least = leastUpTo(now.bestAt[index], to);
      const price = least === Infinity ? `no ${noun} fits` : `loss ${inWords(least)}`;
      button.classList.toggle("on", chosen >= 0 && level(chosen, index) === to);
      button.classList.toggle("cannot", least === Infinity);
      button.setAttribute("aria-pressed", isAsked && state.caps[index] === to);
      button.setAttribute("aria-label", `${column.shown} at most ${to}: ${price}`);
      button.title = `at most ${to}: ${price}`;
    });
    const [value] = column.example, example = rows[index].example;
    example.replaceChildren();
    if (value === undefined || chosen < 0) return;
    const becomes = document.createElement("b"), label = column.example[level(chosen, index)];
    becomes.textContent = label === null ? "NULL" : label;
    example.append(...(label === value ? [becomes, ", as it is"] : [`${value} → `, becomes]));
  });
}

function showNode() {
  const isOther = chosen < 0 ? !known.has(state.k) : !isCounted(chosen);
  at("measure").textContent = isOther && data.depends_on_k ? `Loss, k = ${data.k}` : "Loss";
  at("at").textContent = `Left out, k = ${state.k}`;
  const doubt = data.depends_on_k ? `, and so were losses: at k = ${state.k} others may lose less.` : ".";
  at("known").textContent = isOther ? `Rows left out were counted for k = ${data.k}${doubt}` : "";
  at("exact").textContent = isOther && data.command.length
    ? `All figures for this k: ${command("lattice", ["--out", `lattice_k${state.k}.html`])}`
    : "";
  if (chosen < 0) {
    for (const id of ["loss", "best", "left", "classes"]) at(id).textContent = "–";
    at("command").textContent = at("chosen").textContent = `No ${noun} keeps that much at this k.`;
    at("copy").disabled = true;
    return;
  }
  at("loss").textContent = inWords(now.losses[chosen]);
  at("best").textContent = nodes.best_k[chosen] || "none";
  at("left").textContent = leftOut(chosen);
  at("classes").textContent = counted(nodes.class_counts[chosen]);
  at("command").textContent = toRun(chosen);
  at("copy").disabled = false;
  const named = columns.map((column, index) => `${column.shown} ${level(chosen, index)}`).join(", ");
  const loss = inWords(now.losses[chosen]), remark = now.fits[chosen] ? "" : " It does not fit.";
  at("chosen").textContent = `Chosen: ${named}. Loss ${loss}, k up to ${nodes.best_k[chosen]}.${remark}`;
}

function showLeast() {
  at("least").replaceChildren(...data.asked.filter((k) => now.bestBy.has(k)).map((k) => {
    const row = document.createElement("tr"), node = now.bestBy.get(k);
    const texts = [k, inWords(knownAt(k).losses[node]), levelsOf(node).join(" · ")];
    for (const text of texts) row.insertCell().textContent = text;
    row.cells[1].className = "number";
    return row;
  }));
}

// The chart. Points on the same pixel are drawn once, so that a large lattice takes no longer than its picture.
const canvas = at("chart"), pen = canvas.getContext("2d");
const MARGIN = { left: 58, right: 16, top: 12, bottom: 40 };
const mostK = Math.max(2, nodes.best_k.reduce((most, k) => Math.max(most, k), 0));
const mostLoss = data.is_share
  ? 1 / data.loss_unit
  : Math.max(1, ...[...known.values()].map(({ order, losses }) => losses[order[order.length - 1]]));
const CROWDED = 20000;  // that many points are squares, which take less time
let size = { width: 0, height: 0 };

const acrossOf = (k) => {
  const start = MARGIN.left + 22;  // left of it are nodes that attain no k at all
  return k < 1 ? MARGIN.left + 6 : start + (size.width - start - MARGIN.right) * Math.log(k) / Math.log(mostK);
};
const downOf = (loss) => MARGIN.top + (size.height - MARGIN.top - MARGIN.bottom) * (1 - loss / mostLoss);
const across = new Float32Array(count), down = new Float32Array(count);  // where the nodes are

// Give the chart as many pixels as it takes.
function fit() {
  const { width, height } = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
  size = { width, height };
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
}

function place() {
  for (let node = 0; node < count; node++) {
    across[node] = acrossOf(nodes.best_k[node]);
    down[node] = downOf(now.losses[node]);
  }
}

function draw() {
  place();
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(`--${name}`);
  pen.clearRect(0, 0, size.width, size.height);
  drawAxes(colour);
  const scale = count > 1000 ? 1 : 1.4;
  drawPoints(0, colour("before"), 1.3 * scale);
  drawPoints(1, colour("after"), 2.1 * scale);
  const bottom = size.height - MARGIN.bottom;
  pen.strokeStyle = colour("bad");
  pen.setLineDash([4, 3]);
  line(acrossOf(state.k), MARGIN.top, acrossOf(state.k), bottom);
  pen.setLineDash([]);
  if (chosen < 0) return;
  pen.strokeStyle = colour("back");
  pen.lineWidth = 6;
  ring(across[chosen], down[chosen], 7);
  pen.strokeStyle = colour("text");
  pen.lineWidth = 2.5;
  ring(across[chosen], down[chosen], 7);
  pen.lineWidth = 1;
}

function drawAxes(colour) {
  const bottom = size.height - MARGIN.bottom;
  pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
  pen.strokeStyle = colour("line");
  pen.fillStyle = colour("quiet");
  pen.textAlign = "right";
  for (let part = 0; part <= 4; part++) {
    const loss = mostLoss * part / 4, y = downOf(loss);
    line(MARGIN.left, y, size.width, y);
    pen.fillText(data.is_share ? `${25 * part} %` : short(loss * data.loss_unit), MARGIN.left - 7, y + 4);
  }
  pen.textAlign = "center";
  let free = 0;  // to the right of the last number
  for (const k of ticks()) {
    const x = acrossOf(k), half = pen.measureText(counted(k)).width / 2;
    if (x - half < free || x + half > size.width) continue;
    pen.fillText(counted(k), x, bottom + 16);
    free = x + half + 8;
  }
  pen.fillText("greatest k within the suppression limit", (size.width + MARGIN.left) / 2, size.height - 7);
  pen.textAlign = "left";
}

const short = (number) => number.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });

function* ticks() {
  for (let power = 1; power <= mostK; power *= 10) {
    for (const factor of [1, 2, 5]) if (factor * power <= mostK) yield factor * power;
  }
}

function drawPoints(fitting, colour, radius) {
  const wide = Math.ceil(size.width) + 1, drawn = new Uint8Array(wide * (Math.ceil(size.height) + 1));
  pen.fillStyle = colour;
  pen.globalAlpha = fitting ? 0.75 : 0.55;
  for (let node = 0; node < count; node++) {
    if (now.fits[node] !== fitting) continue;
    const x = across[node], y = down[node], pixel = Math.round(y) * wide + Math.round(x);
    if (drawn[pixel]) continue;
    drawn[pixel] = 1;
    if (count > CROWDED) {
      pen.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      continue;
    }
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

function line(x, y, toX, toY) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

function ring(x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.stroke();
}

// The node with the least of something; -1 if it is infinite for all.
function nearest(distance) {
  let best = -1, least = Infinity;
  for (let node = 0; node < count; node++) {
    const far = distance(node);
    if (far < least) { least = far; best = node; }
  }
  return best;
}

function take(node) {
  if (node < 0) return;
  state.taken = node;
  show();
}

canvas.onclick = (event) => {
  const { left, top } = canvas.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
  // Points that fit are a little closer.
  take(nearest((node) => {
    const square = (across[node] - x) ** 2 + (down[node] - y) ** 2;
    return square > 400 ? Infinity : square - (now.fits[node] ? 20 : 0);
  }));
};

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

canvas.onkeydown = (event) => {
  const arrow = ARROWS[event.key];
  if (event.key === "Home") state.taken = -1;
  else if (!arrow || chosen < 0) return;
  event.preventDefault();
  if (!arrow) return show();
  // The nearest point in that direction; what lies aside counts three times.
  const [right, below] = arrow, x = across[chosen], y = down[chosen];
  take(nearest((node) => {
    const dx = across[node] - x, dy = down[node] - y, ahead = dx * right + dy * below;
    return ahead < 0.5 ? Infinity : ahead + 3 * Math.abs(right ? dy : dx);
  }));
};

at("k").max = data.asked.length - 1;
at("k").oninput = (event) => {
  state.k = data.asked[event.target.value];
  state.taken = -1;
  show();
};
at("reset").onclick = () => {
  state.caps = columns.map((column) => column.most);
  state.taken = -1;
  show();
};
at("copy").onclick = () => {
  // Selecting and copying asks for no permission, also where a page is a file.
  getSelection().selectAllChildren(at("command"));
  at("copied").textContent = document.execCommand("copy") ? "Copied." : "Selected: copy it with the keyboard.";
};

// The state as a link: #k=10&education=1, and k=10/0.1.2 for a node that was taken by hand. k comes first, so that a column
// may have that name.
function fragment() {
  const asked = new URLSearchParams();
  asked.append("k", state.taken < 0 ? state.k : `${state.k}/${levelsOf(state.taken).join(".")}`);
  columns.forEach((column, index) => {
    if (state.caps[index] < column.most) asked.append(column.name, state.caps[index]);
  });
  return `#${asked}`;
}

function follow() {
  const [first, ...others] = new URLSearchParams(location.hash.slice(1));
  if (!first || first[0] !== "k") return;
  const [k, node] = first[1].split("/");
  const wanted = Math.floor(Number(k));
  if (wanted >= 2 || wanted === data.k) state.k = wanted;
  if (!data.asked.includes(state.k)) data.asked = [...data.asked, state.k].sort((one, other) => one - other);
  at("k").max = data.asked.length - 1;
  const caps = new Map(others);
  state.caps = columns.map(({ name, least, most }) =>
    caps.has(name) ? Math.min(Math.max(Math.floor(Number(caps.get(name))) || 0, least), most) : most);
  state.taken = node === undefined ? -1 : nearest((each) => (levelsOf(each).join(".") === node ? 0 : Infinity));
}

const remarks = [];
if (data.checked_nodes < data.node_count) {
  const proven = data.gap === null ? "" : data.gap === 0
    ? ` None of the others that keeps k = ${data.k} loses less than the best one here.`
    : ` Others that keep k = ${data.k} lose less than the best one here by at most ${inWords(data.gap / data.loss_unit)}.`;
  remarks.push(`The check was stopped: ${counted(data.checked_nodes)} of ${counted(data.node_count)} nodes were checked, `
    + `those first that lose about as much as the best one.${proven}`);
}
if (count < data.checked_nodes) {
  remarks.push(`The lattice has ${counted(data.node_count)} nodes; ${counted(count)} of them are here: the best `
    + "at each k for every level of a column and of two columns, those on the Pareto front, and a sample of the others. "
    + "With levels set for three columns or more, a node that is not here may lose less.");
}
at("part").hidden = remarks.length === 0;
at("part").textContent = remarks.join(" ");
addEventListener("hashchange", () => { follow(); show(); });
addEventListener("resize", () => { fit(); draw(); });
for (const media of ["print", "(prefers-color-scheme: dark)"]) {
  matchMedia(media).addEventListener("change", () => { fit(); draw(); });
}
fit();
follow();
show();
