/** Starts the page of a document, and mends what the renderer leaves to those who cannot see or point. */
(() => {
  const element = document.getElementById('reference');
  const { document: url, scheme } = element.dataset;
  globalThis.Scalar.createApiReference(element, {
    url,
    // Where a token is entered: the panel opens with the credential that most operations take. It is forgotten with the page.
    authentication: { preferredSecurityScheme: scheme },
    persistAuth: false,
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    // These assistants would talk to their maker's servers.
    agent: { disabled: true },
    mcp: { disabled: true },
    externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
  });

  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);
  const mendPage = () => {
    each('button.scalar-code-copy:not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy'));
    each('.endpoints:not([tabindex])', (list) => list.setAttribute('tabindex', '0'));
    // A name has to contain the words that are seen ("Show More"), for those who speak to their browser.
    each('.show-more[aria-label^="Show all"]', (button) => {
      button.setAttribute('aria-label', button.getAttribute('aria-label').replace('Show all', 'Show More:'));
    });
    // One landmark an operation, all of the same name, leads nowhere.
    each('.response-card[role="region"]', (card) => card.removeAttribute('role'));
  };
  let isDue = false;
  new MutationObserver(() => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      mendPage();
    });
  }).observe(document.body, { childList: true, subtree: true });
})();
