/** The console: the signed-in person, the current page and the frame around it (P6). It uses only the public APIs. */
import { Heading, Link, root, useAddress } from './address.js';
import { CallFailure, recognise, session, signOut } from './calls.js';
import { invitationPath, InvitationPage } from './invitation-page.js';
import { findPage, pages } from './pages.js';
import { SignIn } from './sign-in.js';
import { html, render, useEffect, useState } from './ui.js';

function Console() {
  const now = session.use();
  const [failure, setFailure] = useState('');
  const identify = () => {
    setFailure('');
    recognise().catch((error) =>
      setFailure(error instanceof CallFailure ? error.message : 'Something went wrong. Reload the page and try again.'),
    );
  };
  useEffect(identify, []);
  if (now.is === 'in') return html`<${Frame} key=${now.person.id} person=${now.person} />`;
  if (now.is === 'out') return html`<${SignIn} ended=${now.ended} />`;
  if (failure === '')
    return html`<main class="alone" aria-busy="true"><h1 class="unseen">Coherence console</h1></main>`;
  return html`<main class="alone">
    <h1>Coherence console</h1>
    <p role="alert">${failure}</p>
    <p><button type="button" onClick=${identify}>Try again</button></p>
  </main>`;
}

/** @param {{ person: import('./calls.js').Person }} properties */
function Frame({ person }) {
  const { path, query } = useAddress();
  const page = findPage(path);
  return html`<a class="skip" href="#content">Skip to content</a>
    <header class="bar">
      <p class="brand"><${Link} href=${root}>Coherence<//></p>
      <nav aria-label="Pages">
        <ul>
          ${pages.map(
            ({ name, title }) =>
              html`<li>
                <${Link} href=${`${root}/${name}`} aria-current=${page?.name === name ? 'page' : undefined}>${title}<//>
              </li>`,
          )}
        </ul>
      </nav>
      <${Account} name=${person.name} />
    </header>
    <main id="content" tabindex="-1">
      ${
        page === undefined
          ? html`<${Heading} title="Page not found" />
              <p>Check the address or choose a page above.</p>`
          : html`<${page.View} key=${`${page.name}/${page.names.join('/')}`} query=${query} names=${page.names} />`
      }
    </main>`;
}

/** @param {{ name: string }} properties */
function Account({ name }) {
  const [failure, setFailure] = useState('');
  const endSession = () => signOut().catch(() => setFailure('Sign-out failed. Please try again.'));
  return html`<p class="account">
    <span>${name}</span>
    <button type="button" class="quiet" onClick=${endSession}>Sign out</button>
    <span role="alert">${failure}</span>
  </p>`;
}

const isInvitation = location.pathname.replace(/\/$/, '') === invitationPath;
render(html`<${isInvitation ? InvitationPage : Console} />`, document.body);
