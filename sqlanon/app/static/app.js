// Asks for the pages that forms and links ask for, and swaps the parts that differ; both work without it.
"use strict";
const root = document.documentElement, PARTS = ["top", "steps", "job", "content", "aside"];
let asked = 0, stream = null, timer = 0, moved = null, isSliding = false, searched, turn = Promise.resolve(true);
const restored = new WeakSet();  // fields with text that no event has announced

const get = id => document.getElementById(id), find = selector => document.querySelector(selector);
const on = (name, act) => document.addEventListener(name, act), reload = () => ask(location.href, {}, true);
const fieldsOf = form => new URLSearchParams(new FormData(form));
const typedIn = () => [...document.querySelectorAll("input[id], textarea")].filter(each => /text|number/.test(each.type));

function swap(text, address, keepsScroll, isMoving, known) {
  const page = new DOMParser().parseFromString(text, "text/html");
  if (isMoving) {
    for (const old of document.querySelectorAll("[data-moving]")) { const now = page.getElementById(old.id); if (now) old.replaceWith(document.adoptNode(now)); }
    return;
  }
  if (!PARTS.every(id => page.getElementById(id))) { location.assign(address); return; }
  const field = document.activeElement, focused = field?.id, caret = [field?.selectionStart, field?.selectionEnd];
  const typed = typedIn().filter(each => each.value !== known.get(each.id));  // since the page was asked for: it stays
  const open = new Map([...document.querySelectorAll("details[id]")].map(each => [each.id, each.open]));
  const top = scrollY;
  for (const id of PARTS) get(id).replaceWith(document.adoptNode(page.getElementById(id)));
  for (const [id, is] of open) { const each = get(id); if (each) each.open = is; }
  for (const old of typed) { const each = get(old.id); if (each) { each.value = old.value; restored.add(each); } }
  document.title = page.title;
  if (address !== location.href) history.pushState(null, "", address);
  const again = focused && get(focused);
  if (again) again.focus({ preventScroll: true });
  if (/^text/.test(again?.type)) again.setSelectionRange(...caret);
  else if (again?.type === "number" && again.value === known.get(focused)) again.select();  // as Tab does
  if (keepsScroll) scrollTo(0, top); else { scrollTo(0, 0); get("content").focus({ preventScroll: true }); }
  follow();
}

async function ask(address, options, keepsScroll, isMoving) {
  const number = ++asked, isAgain = keepsScroll && !options.method;
  const known = new Map(typedIn().map(each => [each.id, isAgain ? each.defaultValue : each.value]));
  root.ariaBusy = "true";
  try {
    const answer = await fetch(address, options), text = await answer.text();
    if (number !== asked) return answer.ok;
    swap(text, options.method && !answer.redirected ? location.href : answer.url, keepsScroll, isMoving, known);
    return answer.ok;
  } catch {
    get("job").textContent = "The app does not answer: has it ended?";
  } finally { if (number === asked) root.ariaBusy = null; }
}

function send(form, button, isMoving) {
  const fields = fieldsOf(form);
  if (button?.name) fields.set(button.name, button.value);
  const action = button?.getAttribute("formaction") || form.getAttribute("action");
  if (form.method === "get") return ask(`${action}?${fields}`, {}, true);
  // One after the other: a form that is sent while another is on its way belongs to the version of that answer.
  return turn = turn.then(wentWell => {
    if (!form.isConnected && !wentWell) return false;
    const version = find("#content input[name=version]");
    if (!form.isConnected && version && fields.has("version")) fields.set("version", version.value);
    return ask(action, { method: "POST", body: fields }, true, isMoving);
  });
}

on("submit", event => {
  event.preventDefault();
  clearTimeout(timer);
  send(event.target, event.submitter);
});
on("click", event => {
  const link = event.target.closest("a[href]");
  if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey || link.hash) return;
  event.preventDefault();
  ask(link.href, {}, false);
});
// A choice is sent at once; what is typed, after a pause, to be shown and not kept.
on("change", event => {
  const form = event.target.form;
  if (form && event.target.closest("[data-now]")) { moved = null; restored.delete(event.target); send(form, null); }
});
on("focusout", event => {
  if (event.target.isConnected && restored.delete(event.target) && event.target.closest("[data-now]")) send(event.target.form, null);
});
on("input", event => {
  const form = event.target.form, live = form?.dataset.live;
  if (event.target.type === "range" && event.target.closest("[data-now]")) slide(form);
  else if (live && event.target.type !== "checkbox") {
    clearTimeout(timer);
    timer = setTimeout(() => { const fields = fieldsOf(form); fields.set("only", "preview"); ask(live, { method: "POST", body: fields }, true); }, 350);
  }
});
// While a slider moves, each answer is followed by a question for the newest position; the slider itself stays.
async function slide(form) {
  moved = form;
  if (isSliding) return;
  isSliding = true;
  while (moved) { const latest = moved; moved = null; await send(latest, null, true); }
  isSliding = false;
}
addEventListener("popstate", () => ask(location.href, {}, false));

function follow() {
  const job = get("job");
  stream?.close();
  if (find("[data-again]")) reload();  // the next columns are counted
  if (job.dataset.state !== "running") return;
  stream = new EventSource("events");
  stream.onmessage = event => {
    const news = JSON.parse(event.data);
    find("#job .sentence")?.replaceChildren(news.sentence);
    const fills = find("[data-fills]") && document.activeElement?.type !== "range";
    if (fills && news.k !== searched) { searched = news.k; reload(); }  // the least loss at another k is found
    if (news.state !== "running") { stream.close(); reload(); }
  };
}
root.classList.add("script");
follow();
