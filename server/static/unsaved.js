// Asks before a page is left on which something was typed that is not saved.
let sent = null;
const isTyped = (field) => field.defaultValue !== undefined
  && !["hidden", "range"].includes(field.type) && field.value !== field.defaultValue;
// After a mistake the page comes with what was typed, and nothing of it is stored.
const isUnsaved = (form) => form.dataset.warn === "typed" || [...form.elements].some(isTyped);

// A program that sends the form itself stays on the page, and so does a form that brings a file.
document.addEventListener("submit", (event) => { if (!event.defaultPrevented) sent = event.target; });
document.addEventListener("input", () => { sent = null; });
addEventListener("beforeunload", (event) => {
  const forms = [...document.querySelectorAll("form[data-warn]")].filter((form) => form !== sent);
  if (forms.some(isUnsaved)) event.preventDefault();
});
