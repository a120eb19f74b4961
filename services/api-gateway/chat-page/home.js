/** Opens the chat of an agent from the home page. */
const form = /** @type {HTMLFormElement} */ (document.getElementById('visit'));
const agent = /** @type {HTMLInputElement} */ (document.getElementById('agent'));

form.addEventListener('submit', (event) => {
  event.preventDefault();
  location.assign(`/chat/${encodeURIComponent(agent.value.trim())}`);
});
