// Keeps a page of researchers current: every few seconds it asks the address that the page names, and
// shows what came. If more than numbers changed, it loads the page again, unless somebody is writing.
const live = document.querySelector("[data-live]");

const isChanged = (field) =>
  field instanceof HTMLSelectElement
    ? field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected))
    : field.value !== field.defaultValue || field.checked !== field.defaultChecked;

const isWriting = () =>
  [...document.querySelectorAll("input:not([type=hidden]), select")].some(isChanged);

async function look() {
  if (!document.hidden) {
    const answer = await fetch(live.dataset.live);
    if (!answer.ok) return; // for example after signing out: the page stays as it is
    const told = await answer.json();
    if (told.state !== live.dataset.state && !isWriting()) {
      location.reload();
      return;
    }
    for (const [id, text] of Object.entries(told.texts)) {
      document.getElementById(id).textContent = text;
    }
    for (const [id, value] of Object.entries(told.values)) {
      document.getElementById(id).value = value;
    }
  }
  setTimeout(look, 1000 * live.dataset.every);
}

if (live !== null) setTimeout(look, 1000 * live.dataset.every);
