// Asks before a page is left on which something was typed that is not saved.
let isSaving = false;
const isTyped = (field) => field.defaultValue !== undefined && field.type !== "hidden" && field.value !== field.defaultValue;
document.addEventListener("submit", () => { isSaving = true; });
addEventListener("beforeunload", (event) => {
  const forms = document.querySelectorAll("form[data-warn]");
  if (!isSaving && [...forms].some((form) => [...form.elements].some(isTyped))) event.preventDefault();
});
