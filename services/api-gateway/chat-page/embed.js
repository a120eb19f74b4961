/**
 * Embeds the chat with an agent in another site: `<script src="https://…/chat/embed.js" data-agent="guide"
 * async></script>`. A button in the corner opens the visitor page in a frame; the site and the frame cannot read each
 * other's content. The page is shown only on sites in CHAT_EMBED_ORIGINS (rules/agents#embedded).
 */
(() => {
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement)) return;
  const { agent, lang = document.documentElement.lang, label } = script.dataset;
  if (agent === undefined || agent === '') throw new Error('chat/embed.js: data-agent is missing');
  const address = new URL(encodeURIComponent(agent), new URL('.', script.src));
  if (lang !== '') address.searchParams.set('lang', lang);

  /** @type {HTMLIFrameElement | undefined} */
  let frame;
  const button = document.createElement('button');
  button.type = 'button';
  button.ariaExpanded = 'false';
  button.ariaLabel = label ?? 'Chat';
  setStyle(button, {
    position: 'fixed',
    insetBlockEnd: '1rem',
    insetInlineEnd: '1rem',
    zIndex: '2147483000',
    width: '3.5rem',
    height: '3.5rem',
    padding: '0',
    border: '2px solid #fff',
    borderRadius: '50%',
    background: '#17645d',
    color: '#fff',
    font: '600 1.5rem/1 system-ui, sans-serif',
    cursor: 'pointer',
    boxShadow: '0 2px 10px rgb(0 0 0 / 35%)',
  });
  show(false);
  button.addEventListener('click', () => toggle(button.ariaExpanded !== 'true'));
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && button.ariaExpanded === 'true') toggle(false);
  });
  addEventListener('message', ({ source, origin, data }) => {
    if (source === frame?.contentWindow && origin === address.origin && data === 'coherence-chat:close') toggle(false);
  });
  if (document.body === null) addEventListener('DOMContentLoaded', () => document.body.append(button));
  else document.body.append(button);

  /** @param {boolean} open */
  function toggle(open) {
    frame ??= addFrame();
    frame.hidden = !open;
    frame.style.display = open ? 'block' : 'none';
    show(open);
    if (open) frame.focus();
    else button.focus();
  }

  /** @param {boolean} open */
  function show(open) {
    button.ariaExpanded = String(open);
    button.textContent = open ? '×' : '…';
  }

  function addFrame() {
    const made = document.createElement('iframe');
    made.src = address.href;
    made.title = button.ariaLabel ?? 'Chat';
    made.referrerPolicy = 'origin';
    setStyle(made, {
      position: 'fixed',
      insetBlockEnd: '5.5rem',
      insetInlineEnd: '1rem',
      zIndex: '2147483000',
      width: 'min(24rem, calc(100vw - 2rem))',
      height: 'min(36rem, calc(100dvh - 7rem))',
      border: '1px solid #8b8f8c',
      borderRadius: '1rem',
      background: '#f5f2ec',
      boxShadow: '0 4px 24px rgb(0 0 0 / 35%)',
    });
    button.before(made);
    return made;
  }

  /**
   * Sets styles through the object model, because a site's content security policy may forbid inline styles.
   * @param {HTMLElement} element
   * @param {Partial<CSSStyleDeclaration>} style
   */
  function setStyle(element, style) {
    Object.assign(element.style, style);
  }
})();
