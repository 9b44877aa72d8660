// Keeps /explore live: sliders beside the fields, and a new answer at once. Without this program the
// buttons do the same. It computes nothing: the server draws each picture.
const wait = 250;
const timers = new Map();
const latest = new Map();

const find = (id) => document.querySelector(`[id="${CSS.escape(id)}"]`);

/** Returns one of our pages as a document in which nothing runs. */
const load = (address) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open("GET", address);
  request.responseType = "document";
  request.onload = () => resolve(request.response);
  request.onerror = () => reject(new Error("The server cannot be reached."));
  request.send();
});

/** Returns what the page asks for: the fields that are not as usual. */
function changed(fields) {
  const asked = new URLSearchParams();
  for (const field of fields) {
    if (field.value.trim() && field.value.trim() !== field.dataset.usual) asked.set(field.name, field.value.trim());
  }
  return asked;
}

/** Shows a slider at the stop that is next to its field's number. */
function place(slider) {
  const stops = slider.dataset.stops.split(" ");
  const number = Number(find(slider.dataset.of).value.replaceAll(",", ""));
  const above = stops.findIndex((stop) => Number(stop) >= number);
  slider.value = String(above < 0 ? stops.length - 1 : above);
  slider.setAttribute("aria-valuetext", find(slider.dataset.of).value);
}

/** Puts what is wrong with a section's fields beside them. */
function mark(section, page) {
  for (const old of section.querySelectorAll(".at-field")) old.remove();
  for (const field of section.querySelectorAll("[data-usual]")) {
    const told = page.getElementById(`wrong-${field.id}`);
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
    if (!told) continue;
    field.before(document.adoptNode(told));
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", `wrong-${field.id}`);
  }
}

async function show(section, button) {
  const mine = (latest.get(section) ?? 0) + 1;
  latest.set(section, mine);
  const asked = changed(section.querySelectorAll("[data-usual]"));
  // The server decides what a button of the playground does: its answer has the fields anew.
  if (button?.name) asked.set(button.name, button.value);
  const part = section.querySelector("[data-part]");
  try {
    const page = await load(`${section.dataset.address}?${asked}`);
    const fresh = page?.querySelector("[data-part]");
    if (mine !== latest.get(section) || !fresh) return;
    for (const details of part.querySelectorAll("details")) {
      const at = [...part.querySelectorAll("details")].indexOf(details);
      fresh.querySelectorAll("details")[at]?.toggleAttribute("open", details.open);
    }
    part.replaceChildren(...document.adoptNode(fresh).childNodes);
    for (const field of button?.name ? section.querySelectorAll("[data-usual]") : []) {
      field.value = page.getElementById(field.id).value;
    }
    mark(section, page);
  } catch ({ message }) {
    part.replaceChildren(Object.assign(document.createElement("p"), { className: "complaint", textContent: message }));
    return;
  }
  // The address names this state, so that it can be cited.
  if (section.querySelector(".complaint")) return;
  const whole = changed(document.querySelectorAll("[data-usual]"));
  const query = whole.size ? `?${whole}` : "";
  history.replaceState(null, "", `${location.pathname}${query}${location.hash}`);
  // Other forms keep what was changed here.
  for (const form of document.querySelectorAll("form[data-live]")) {
    for (const hidden of form.querySelectorAll("input[type=hidden]")) hidden.remove();
    for (const [name, value] of whole) {
      if (form.elements[name]) continue;
      form.prepend(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
  }
}

function soon(section) {
  clearTimeout(timers.get(section));
  timers.set(section, setTimeout(show, wait, section));
}

for (const slider of document.querySelectorAll("[data-of]")) {
  slider.hidden = false;
  place(slider);
}
document.addEventListener("input", ({ target }) => {
  const section = target.closest("[data-address]");
  if (!section) return;
  if (target.dataset.of) {
    find(target.dataset.of).value = target.dataset.stops.split(" ")[target.value];
    target.setAttribute("aria-valuetext", find(target.dataset.of).value);
  } else {
    const slider = section.querySelector(`[data-of="${target.id}"]`);
    if (slider) place(slider);
  }
  soon(section);
});
document.addEventListener("submit", (event) => {
  const section = event.target.closest("[data-address]");
  if (!section) return;
  event.preventDefault();
  clearTimeout(timers.get(section));
  show(section, event.submitter);
});
