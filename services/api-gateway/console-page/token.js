/** A token that is shown only once. */
import { Dialog } from './parts.js';
import { html, useEffect, useRef, useState } from './ui.js';

/** @param {{ title: string, token: string, onClose: () => void }} properties */
export function NewToken({ title, token, onClose }) {
  const field = /** @type {{ current: HTMLInputElement | null }} */ (useRef(null));
  const [copied, setCopied] = useState('');
  useEffect(() => field.current?.select(), []);
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(token);
      setCopied('Copied');
    } catch {
      setCopied('Copy failed. The token is selected.');
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p id="token-hint">Copy it now. You will not see it again.</p>
    <p class="field">
      <label for="token">Token</label>
      <input
        id="token"
        ref=${field}
        readonly
        value=${token}
        aria-describedby="token-hint"
        autocomplete="off"
        spellcheck=${false}
      />
    </p>
    <p class="buttons">
      <button type="button" onClick=${copy}>Copy</button>
      <button type="button" class="quiet" onClick=${onClose}>Done</button>
      <span role="status">${copied}</span>
    </p>
  <//>`;
}
