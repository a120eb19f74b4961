/** Sign-in form. The URL is preserved, so the requested page is shown after signing in. */
import { signIn } from './calls.js';
import { Failure, readForm, useAct } from './parts.js';
import { html, useEffect, useRef } from './ui.js';

/** @param {{ ended: boolean }} properties `ended`: whether a session has just ended */
export function SignIn({ ended }) {
  useEffect(() => {
    document.title = 'Sign in · Coherence console';
  }, []);
  return html`<main class="alone">
    <h1>Coherence console</h1>
    ${ended ? html`<p role="alert">Your session has ended. Sign in to continue.</p>` : null}
    ${isSecureContext ? null : html`<p role="alert">Browsers store the session only over https or on localhost.</p>`}
    ${document.body.dataset['signIn'] === 'provider' ? html`<${AtProvider} />` : html`<${ByPassword} />`}
  </main>`;
}

/** The provider redirects back to this page; when sign-in failed, the reason is in the URL. */
function AtProvider() {
  const address = new URL(location.href);
  const reason = address.searchParams.get('signIn');
  address.searchParams.delete('signIn');
  const way = `/console/sign-in?${new URLSearchParams({ to: `${address.pathname}${address.search}` })}`;
  const texts = new Map([
    ['refused', 'Sign-in failed. It was cancelled, or no account matches the identity of the provider.'],
    [
      'misconfigured',
      'Sign-in is not set up correctly. Ask an administrator of the platform to check the identity provider settings.',
    ],
    ['limited', 'Too many sign-ins from here. Please try again in a minute.'],
    ['away', 'The identity provider cannot be reached now. Please try again.'],
  ]);
  const text = texts.get(reason ?? '');
  return html`${text === undefined ? null : html`<p role="alert">${text}</p>`}
    <p><a class="button" href=${way}>Sign in</a></p>`;
}

function ByPassword() {
  const form = /** @type {{ current: HTMLFormElement | null }} */ (useRef(null));
  const { busy, failure, run } = useAct(async () => {
    const { text } = readForm(form.current);
    await signIn(text('email').trim(), text('password'));
  });
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    void run();
  };
  return html`<form ref=${form} onSubmit=${submit} class="sign-in">
    <label for="email">Email</label>
    <input id="email" name="email" type="email" autocomplete="username" required maxlength="1000" />
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="4000" />
    <button type="submit" aria-disabled=${String(busy)}>${busy ? 'Signing in…' : 'Sign in'}</button>
    <${Failure} failure=${failure} />
  </form>`;
}
