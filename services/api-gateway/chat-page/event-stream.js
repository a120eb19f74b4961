/** Reads server-sent events of the response to a POST, which the browser's EventSource does not support. */

/**
 * Yields the events of the response. Ends without an error when the connection is lost; the last event is then missing.
 * @param {Response} response
 * @returns {AsyncGenerator<{ event: string, data: unknown }>}
 */
export async function* readEvents(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done = true } = (await reader?.read().catch(() => undefined)) ?? {};
    if (done) return;
    const parts = (rest + (value ?? '')).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const event = parseEvent(part);
      if (event !== undefined) yield event;
    }
  }
}

/** @param {string} text */
function parseEvent(text) {
  const name = /^event: (.*)$/m.exec(text)?.[1];
  const data = /^data: (.*)$/m.exec(text)?.[1];
  if (name === undefined || data === undefined) return undefined; // a keep-alive comment
  try {
    return { event: name, data: /** @type {unknown} */ (JSON.parse(data)) };
  } catch {
    return undefined;
  }
}
