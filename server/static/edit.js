// Sends each change of a draft by itself, and shows what became of it. Without this program the page
// works, too: then its buttons send. The parts of the page that the answer has anew are exchanged;
// a field in which somebody writes keeps what is in it.
const url = new URL(location.href);

/** Returns one of our pages as a document in which nothing runs. */
const load = (method, address, body) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open(method, address);
  request.responseType = "document";
  request.onload = () => resolve({
    page: request.response, address: request.responseURL, isFine: request.status < 400,
    isConflict: request.status === 409, isSignedOut: request.status === 401, isForbidden: request.status === 403,
  });
  request.onerror = () => reject(new Error("The server cannot be reached."));
  request.send(body);
});

const find = (id, within = document) => within.querySelector(`[id="${CSS.escape(id)}"]`);
const isTyped = (field) => field.defaultValue !== undefined
  && !["checkbox", "radio", "range", "file"].includes(field.type) && field.value !== field.defaultValue;

/** Whether a field has another value than the page came with; unlike typed text, a box is stored at once. */
const isChanged = (field) => {
  if (field instanceof HTMLSelectElement) return [...field.options].some((one) => one.selected !== one.defaultSelected);
  return ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked : isTyped(field);
};

/** Takes over what was changed since a form was sent, so that no answer to it undoes that. */
function carry(form, fresh, sent) {
  for (const field of form.elements) {
    if (!field.name || ["hidden", "file", "submit"].includes(field.type)) continue;
    const isBox = ["checkbox", "radio"].includes(field.type);
    const was = isBox ? sent.getAll(field.name).includes(field.value) : sent.get(field.name);
    const is = isBox ? field.checked : field.value;
    if (is === was || (was === null && !isTyped(field))) continue;
    const same = [...fresh.elements].find((one) => one.name === field.name && (!isBox || one.value === field.value));
    if (same) same[isBox ? "checked" : "value"] = is;
  }
}

/** Puts a part of the answer in place of the one that is shown; what was `sent` may be kept. */
function exchange(old, fresh, keeps, sent) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const typed = keeps && focused && isTyped(focused) ? focused.value : undefined;
  const [start, end] = focused?.type === "text" || focused?.tagName === "TEXTAREA" ? [focused.selectionStart, focused.selectionEnd] : [];
  for (const details of old.querySelectorAll("details[open][data-keep]")) {
    fresh.querySelector(`details[data-keep="${details.dataset.keep}"]`)?.setAttribute("open", "");
  }
  // A question that is being added stays as far as it is written, whatever is stored meanwhile.
  for (const field of old.querySelectorAll(".add [id]")) find(field.id, fresh).value = field.value;
  const [before, after] = [old, fresh].map((part) => part.querySelector("form[data-auto]"));
  if (keeps && sent && before && after) carry(before, after, sent);
  old.replaceWith(fresh);
  prepare(fresh);
  const again = focused?.id && find(focused.id, fresh);
  if (!again) return;
  if (typed !== undefined) again.value = typed;
  again.focus({ preventScroll: true });
  if (start !== undefined) again.setSelectionRange(start, end);
}

/** Marks the fields in which an answer found a mistake; the form stays as it was typed. */
function mark(page) {
  for (const old of document.querySelectorAll(".at-field")) {
    const field = document.querySelector(`[aria-describedby~="${CSS.escape(old.id)}"]`);
    field?.removeAttribute("aria-invalid");
    field?.setAttribute("aria-describedby", field.getAttribute("aria-describedby").replace(old.id, "").trim());
    old.remove();
  }
  for (const told of page.querySelectorAll(".at-field")) {
    const field = find(told.id.replace("wrong-", ""));
    if (!field) continue;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", `${told.id} ${field.getAttribute("aria-describedby") ?? ""}`.trim());
    (field.closest("label") ?? field).before(document.adoptNode(told));
    field.closest("details")?.setAttribute("open", "");
  }
}

/** Says in place of other messages what became of a change; whoever reads it need not look for it. */
function tell(text, ...more) {
  const told = Object.assign(document.createElement("p"), { className: "panel complaint" });
  told.append(text, ...more);
  find("said").replaceChildren(told);
}

/** Nothing that was typed is lost while somebody signs in again in another tab. */
function tellRefused(why, canSignIn = true) {
  const link = Object.assign(document.createElement("a"), { href: "/login", target: "_blank" });
  link.textContent = "Sign in in another tab";
  const again = Object.assign(document.createElement("button"), { type: "button", className: "small" });
  again.textContent = "Save it now";
  again.addEventListener("click", async () => {
    await renew();
    for (const form of document.querySelectorAll("form[data-auto]")) {
      if ([...form.elements].some(isChanged)) store(form);
    }
  });
  const first = canSignIn ? [link, ", come back, and press "] : ["When it answers again, press "];
  tell(`${why} Your text still stands here, and is not saved. `, ...first, again);
}

/** Takes the proof of a new session from this page as it is by now. */
async function renew() {
  const { page } = await load("GET", location.href);
  const fresh = page?.querySelector("[name=csrf]")?.value;
  for (const field of fresh ? document.querySelectorAll("[name=csrf]") : []) field.value = fresh;
}

/** Shows the parts that an answer has; after a mistake the form stays as it was typed. */
function show({ page, address, isFine, isSignedOut, isForbidden }, keeps, sent, isPressed, place) {
  if (isSignedOut) return tellRefused("You are signed out.");
  if (isForbidden) return tellRefused("This page is too old, or your account may not change this.");
  if (!page?.querySelector("[data-part]")) throw new Error("The server has an error.");
  // A mistake in one field holds up no other.
  const isPart = !isFine && ["part", "seen"].some((name) => {
    const [now, was] = [page, document].map((one) => one.querySelector(`#form [name=${name}]`)?.value);
    return now !== was;
  });
  const isAdded = isFine && sent?.get("do") === "add";
  if (isAdded) document.querySelector(".add").reset();
  // Translations have a form for each part: what others changed in another one stays unseen.
  const isShown = ({ id }) => find("form") || [place, "said", "told"].includes(id);
  for (const fresh of [...page.querySelectorAll("[data-part]")].filter(isShown)) {
    const old = find(fresh.id);
    if (!isFine && (fresh.id === place || !(isPart || fresh.id === "said"))) {
      for (const name of ["part", "seen"]) {
        const [now, was] = [fresh, old].map((part) => part?.querySelector(`[name=${name}]`));
        if (now && was) was.value = now.value;
      }
    } else if (old) {
      exchange(old, document.adoptNode(fresh), keeps, sent);
    }
  }
  document.title = page.title;
  if (!isFine) {
    mark(page);
    // If somebody has gone on to another field, the focus stays there.
    if (isPressed) find("mistakes")?.focus();
    else find("said").scrollIntoView({ block: "nearest" });
    return;
  }
  const [shown, next] = [document, page].map((one) => one.querySelector("iframe"));
  // Another address in the same frame would be a step of Back.
  if (shown && shown.getAttribute("src") !== next.getAttribute("src")) shown.replaceWith(document.adoptNode(next));
  if (sent?.get("do") === "delete") find("do-undo")?.focus();
  if (sent?.get("do") === "undo") document.querySelector("#list [aria-current]")?.focus();
  if (isAdded) document.querySelector("#form select, #form input:not([type=hidden]), #form textarea").focus();
  if (address !== location.href && !address.includes("total=")) history.replaceState(null, "", address);
}

/** Says in a corner, and to screen readers, whether all that was written is stored. */
function say(text) {
  const saving = find("saving");
  if (saving.textContent !== text) saving.textContent = text;
}

let waiting = Promise.resolve();
// How many changes were sent, or wait to be, and whether the last of them was not stored.
let unstored = 0;
let isRefused = false;
let latest = 0;
// Requests up to this one were made before anybody saw that another person had changed the part.
let unseen = 0;
// After such a change nothing is stored by itself until a button says so.
let isDisputed = false;
/** Sends one thing after another, so that each knows what the one before has stored. */
function send(method, address, collect, keeps = false, isPressed = false, place = "form") {
  latest += 1;
  const mine = latest;
  const isChange = method === "POST";
  if (isChange) {
    unstored += 1;
    say("Saving…");
  }
  waiting = waiting.then(async () => {
    if (isChange && mine <= unseen) return;
    const isLost = isRefused && [...find("form")?.querySelector("form").elements ?? []].some(isChanged);
    if (!isChange && isLost && !confirm("What is marked on this part is not saved. Do you want to leave it?")) return;
    const data = collect?.();
    // Only the last value that a slider passed counts.
    if (method === "GET" && mine !== latest) return;
    // The part may have another name by now, and was changed by the request before.
    for (const name of data ? ["part", "seen"] : []) {
      data.set(name, (find("form") ?? find(place)).querySelector(`[name=${name}]`).value);
    }
    const isUndone = data?.get("do") === "undo";
    // Undoing concerns the draft as it was seen; figures concern the draft as it is by now.
    if (data?.has("number") && !isUndone) data.set("number", document.querySelector("#totals [name=number]").value);
    const answer = await load(method, address, data);
    if (answer.isConflict) [unseen, isDisputed] = [latest, true];
    else if (answer.isFine) isDisputed = false;
    if (isChange) isRefused = !answer.isFine;
    else if (answer.isFine) {
      isRefused = false;
      if (!unstored) say("Saved");
    }
    show(answer, keeps, data, isPressed, place);
  }).catch(({ message }) => {
    isRefused = isRefused || isChange;
    if (isChange) tellRefused(message, false);
    else tell(message);
  }).finally(() => {
    unstored -= isChange ? 1 : 0;
    if (isChange && !unstored) say(isRefused ? "Not all is saved" : "Saved");
  });
  return waiting;
}

// A double click on one of these means one press.
const once = ["add", "copy", "delete", "together", "apart"];
const underWay = new Set();

function store(form, button) {
  if ((isDisputed && !button) || underWay.has(button?.value)) return;
  const isSaved = form.hasAttribute("data-auto") && (button?.value ?? "save") === "save";
  const place = form.closest("[data-part]").id;
  const sent = new FormData(form);
  if (button) sent.set(button.name, button.value);
  // What is saved is collected when its turn comes: fields may have other names by then.
  const collect = () => {
    const live = isSaved && find(place)?.querySelector("form");
    return live ? new FormData(live) : sent;
  };
  if (once.includes(button?.value)) underWay.add(button.value);
  send("POST", form.action, collect, isSaved, Boolean(button), place)
    .then(() => underWay.delete(button?.value));
}

function tryOut(form) {
  const address = new URL(location.href);
  for (const name of ["respondents", "total", "waves"]) address.searchParams.set(name, form.elements[name].value);
  address.hash = "";
  send("GET", address.href);
}

/** Sliders stand beside the fields whose numbers they show, where this program runs. */
function prepare(part) {
  for (const slider of part.querySelectorAll("[data-of]")) slider.hidden = false;
}

document.addEventListener("input", ({ target }) => {
  if (target.form?.hasAttribute("data-auto")) say("Not saved yet");
  if (target.dataset.of) find(target.dataset.of).value = target.value;
});
// A field that was exchanged while somebody wrote in it fires no change event; leaving it stores it.
document.addEventListener("focusout", ({ target }) => {
  if (target.form?.hasAttribute("data-auto") && isTyped(target)) store(target.form);
});
document.addEventListener("change", ({ target }) => {
  const { form } = target;
  if (form?.hasAttribute("data-auto") && !isTyped(target)) store(form);
  else if (form?.hasAttribute("data-try")) tryOut(form);
});
document.addEventListener("submit", (event) => {
  if (!event.target.closest("[data-part]")) return;
  event.preventDefault();
  store(event.target, event.submitter);
});
// Shows another part of the draft without loading the whole page; any other page waits until all is stored.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const isPart = find("form") && link?.getAttribute("href").startsWith("?part=");
  const isLeft = unstored && link && !link.target && !link.getAttribute("href").startsWith("#");
  if (!(isPart || isLeft) || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  if (!isPart) {
    waiting.then(() => location.assign(link.href));
    return;
  }
  send("GET", new URL(link.getAttribute("href"), url).href);
  // On a phone the form stands below the list.
  waiting = waiting.then(() => {
    const form = find("form");
    if (form.getBoundingClientRect().top > innerHeight) form.scrollIntoView();
  });
});
prepare(document);
say("Saved");
// Stores what was typed before this program had been loaded.
for (const form of document.querySelectorAll("[data-auto]")) {
  if ([...form.elements].some((field) => isTyped(field) && field !== document.activeElement)) store(form);
}
