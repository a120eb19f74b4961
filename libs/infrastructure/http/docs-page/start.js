/** Starts the page of a document, and fixes accessibility problems of the renderer. */
(() => {
  const element = document.getElementById('reference');
  const { document: url, scheme } = element.dataset;
  globalThis.Scalar.createApiReference(element, {
    url,
    // Opens the panel for entering a token with the credential that most operations accept. The token is not stored.
    authentication: { preferredSecurityScheme: scheme },
    persistAuth: false,
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    // This feature would send data to the vendor's servers.
    agent: { disabled: true },
    mcp: { disabled: true },
    externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
  });

  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);
  const mendPage = () => {
    each('button.scalar-code-copy:not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy'));
    each('.endpoints:not([tabindex])', (list) => list.setAttribute('tabindex', '0'));
    // For speech control, the accessible name of a button must contain its visible text ("Show More").
    each('.show-more[aria-label^="Show all"]', (button) => {
      button.setAttribute('aria-label', button.getAttribute('aria-label').replace('Show all', 'Show More:'));
    });
    // Many landmarks with equal names, one per operation, do not help navigation.
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
