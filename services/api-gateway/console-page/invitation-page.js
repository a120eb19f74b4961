/**
 * Page of an invitation, which sets the password of an account (W7). The token is in the fragment of the address, which
 * browsers do not send to servers.
 */
import { acceptInvitation, CallFailure } from './calls.js';
import { Failure, readForm, useAct } from './parts.js';
import { html, useEffect, useRef, useState } from './ui.js';

export const invitationPath = '/console/invitation';

/** @typedef {{ is: 'open' } | { is: 'ended' } | { is: 'done', email: string }} State */

export function InvitationPage() {
  const [state, setState] = useState(firstState);
  const heading = /** @type {{ current: HTMLElement | null }} */ (useRef(null));
  const title = state.is === 'done' ? 'Password set' : state.is === 'ended' ? 'Invitation ended' : 'Set your password';
  useEffect(() => {
    document.title = `${title} · Coherence console`;
    if (state.is !== 'open') heading.current?.focus();
  }, [title]);
  useEffect(() => {
    // Another link that is opened in this tab changes only the fragment.
    const reload = () => location.reload();
    addEventListener('hashchange', reload);
    return () => removeEventListener('hashchange', reload);
  }, []);
  return html`<main class="alone">
    <h1 ref=${heading} tabindex="-1">${title}</h1>
    ${state.is === 'open' ? html`<${PasswordForm} onState=${setState} />` : null}
    ${
      state.is === 'ended'
        ? html`<p role="alert">
            This link was already used, was replaced by a newer one, has expired or is incomplete. Ask an administrator
            of the platform for a new invitation.
          </p>`
        : null
    }
    ${
      state.is === 'done'
        ? html`<p>You can now sign in as <strong>${state.email}</strong>.</p>
            <p><a class="button" href="/console">Sign in</a></p>`
        : null
    }
  </main>`;
}

/** @returns {State} */
function firstState() {
  return { is: location.hash.length > 1 ? 'open' : 'ended' };
}

/** @param {{ onState: (state: State) => void }} properties */
function PasswordForm({ onState }) {
  const form = /** @type {{ current: HTMLFormElement | null }} */ (useRef(null));
  const [isVisible, setVisible] = useState(false);
  const { busy, failure, run } = useAct(async () => {
    try {
      const { email } = await acceptInvitation(location.hash.slice(1), readForm(form.current).text('password'));
      history.replaceState(null, '', invitationPath);
      onState({ is: 'done', email });
    } catch (error) {
      if (!(error instanceof CallFailure) || error.status !== 410) throw error;
      onState({ is: 'ended' });
    }
  });
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    void run();
  };
  return html`<form ref=${form} onSubmit=${submit} class="sign-in">
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type=${isVisible ? 'text' : 'password'}
      autocomplete="new-password"
      autocapitalize="off"
      spellcheck=${false}
      required
      maxlength="4000"
      aria-describedby="hint"
    />
    <p id="hint" class="hint">At least 12 characters, and not easy to guess: several words, or a password manager.</p>
    <label class="check">
      <input type="checkbox" checked=${isVisible} onChange=${() => setVisible(!isVisible)} /> Show characters
    </label>
    <button type="submit" aria-disabled=${String(busy)}>${busy ? 'Setting…' : 'Set password'}</button>
    <${Failure} failure=${failure} />
  </form>`;
}
