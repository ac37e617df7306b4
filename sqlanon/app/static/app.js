// Asks for the same pages as the forms and links do, and swaps the parts that differ. Without it, all of them still work.
"use strict";
const PARTS = ["top", "steps", "job", "content", "aside"];
let asked = 0, stream = null, timer = 0, moved = null, isSliding = false, searched, turn = Promise.resolve(true);
const restored = new WeakSet();  // fields with text that no event has announced

const typedIn = () => [...document.querySelectorAll("input[id]")].filter(each => each.type === "text" || each.type === "number");

function swap(text, address, keepsScroll, isMoving, known) {
  const page = new DOMParser().parseFromString(text, "text/html");
  if (isMoving) {
    for (const old of document.querySelectorAll("[data-moving]")) { const now = page.getElementById(old.id); if (now) old.replaceWith(document.adoptNode(now)); }
    return;
  }
  if (!PARTS.every(id => page.getElementById(id))) { location.assign(address); return; }
  const field = document.activeElement, focused = field && field.id, caret = field && [field.selectionStart, field.selectionEnd];
  const typed = typedIn().filter(each => each.value !== known.get(each.id));  // since the page was asked for: it stays
  const open = new Map([...document.querySelectorAll("details[id]")].map(each => [each.id, each.open]));
  const top = scrollY;
  for (const id of PARTS) document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
  for (const [id, is] of open) { const each = document.getElementById(id); if (each && each.tagName === "DETAILS") each.open = is; }
  for (const old of typed) { const each = document.getElementById(old.id); if (each && "value" in each) { each.value = old.value; restored.add(each); } }
  document.title = page.title;
  if (address !== location.href) history.pushState(null, "", address);
  const again = focused && document.getElementById(focused);
  if (again) again.focus({ preventScroll: true });
  if (again && again.type === "text") again.setSelectionRange(...caret);
  else if (again && again.type === "number" && again.value === known.get(focused)) again.select();  // as Tab does
  if (keepsScroll) scrollTo(0, top); else { scrollTo(0, 0); document.getElementById("content").focus({ preventScroll: true }); }
  follow();
}

async function ask(address, options, keepsScroll, isMoving) {
  const number = ++asked, isAgain = keepsScroll && !options.method;
  const known = new Map(typedIn().map(each => [each.id, isAgain ? each.defaultValue : each.value]));
  document.documentElement.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, options), text = await answer.text();
    if (number !== asked) return answer.ok;
    const isForm = options && options.method === "POST";
    swap(text, isForm && !answer.redirected ? location.href : answer.url, keepsScroll, isMoving, known);
    return answer.ok;
  } catch (error) {
    const job = document.getElementById("job");
    job.textContent = "The app does not answer: has it ended in the terminal?";
  } finally { if (number === asked) document.documentElement.removeAttribute("aria-busy"); }
}

function send(form, button, isMoving) {
  const fields = new URLSearchParams(new FormData(form));
  if (button && button.name) fields.set(button.name, button.value);
  const action = (button && button.getAttribute("formaction")) || form.getAttribute("action");
  if (form.method === "get") return ask(`${action}?${fields}`, {}, true);
  // One after the other: a form that is sent before the last answer is there belongs to the version of that answer.
  return turn = turn.then(wentWell => {
    if (!form.isConnected && !wentWell) return false;
    const version = document.querySelector("#content input[name=version]");
    if (!form.isConnected && version && fields.has("version")) fields.set("version", version.value);
    return ask(action, { method: "POST", body: fields }, true, isMoving);
  });
}

document.addEventListener("submit", event => {
  event.preventDefault();
  clearTimeout(timer);
  send(event.target, event.submitter);
});
document.addEventListener("click", event => {
  const link = event.target.closest("a[href]");
  if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  ask(link.href, {}, false);
});
// A choice is sent at once; typing, after a pause, to the address that shows it without keeping it.
document.addEventListener("change", event => {
  const form = event.target.form;
  if (form && event.target.closest("[data-now]")) { moved = null; restored.delete(event.target); send(form, null); }
});
document.addEventListener("focusout", event => {
  if (event.target.isConnected && restored.delete(event.target) && event.target.closest("[data-now]")) send(event.target.form, null);
});
document.addEventListener("input", event => {
  const form = event.target.form, live = form && form.dataset.live;
  if (event.target.type === "range" && event.target.closest("[data-now]")) slide(form);
  else if (live && event.target.type !== "checkbox") {
    clearTimeout(timer);
    timer = setTimeout(() => { const fields = new URLSearchParams(new FormData(form)); fields.set("only", "preview"); ask(live, { method: "POST", body: fields }, true); }, 350);
  }
});
// While a slider moves, the newest position is asked for when the last answer is there, and the slider itself stays.
async function slide(form) {
  moved = form;
  if (isSliding) return;
  isSliding = true;
  while (moved) { const latest = moved; moved = null; await send(latest, null, true); }
  isSliding = false;
}
addEventListener("popstate", () => ask(location.href, {}, false));

function follow() {
  const job = document.getElementById("job");
  if (stream) { stream.close(); stream = null; }
  if (document.querySelector("[data-again]")) ask(location.href, {}, true);  // the next columns are counted
  if (job.dataset.state !== "running") return;
  stream = new EventSource("events");
  stream.onmessage = event => {
    const news = JSON.parse(event.data), line = document.querySelector("#job .sentence");
    if (line) line.textContent = news.sentence;
    const fills = document.querySelector("[data-fills]") && document.activeElement?.type !== "range";
    if (fills && news.k !== searched) { searched = news.k; ask(location.href, {}, true); }  // the least loss at another k is found
    if (news.state !== "running") { stream.close(); stream = null; ask(location.href, {}, true); }
  };
}
document.documentElement.classList.add("script");
follow();
