import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maxBodyBytes } from './body.ts';
import { countValues, readRawBody } from './body.ts';
import type { HttpContext } from './exchange.ts';
import { ByteBudget } from './byte-budget.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('countValues (rules/http#json-body-cap)', () => {
  it('counts the values of the parsed document, regardless of the contents of its strings', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.integer({ min: 1, max: 6 }), (value, max) => {
        expect(countValues(Buffer.from(JSON.stringify(value)), max) === undefined).toBe(depthOf(value) > max);
      }),
    );
  });

  it.each([
    ['["[[[["]', false],
    [String.raw`["\"[[[["]`, false],
    [String.raw`["\\",[[]]]`, true],
    ['[[[', true],
    ['"unclosed [[[', false],
    ['', false],
  ])('counts the values of %s', (text, exceeded) => {
    expect(countValues(Buffer.from(text), 2) === undefined).toBe(exceeded);
  });

  it.each([
    ['1', 1],
    ['[]', 2],
    ['[1,2,3]', 4],
    ['{"a,[":{"b":1}}', 3],
  ])('counts at least as many values as exist in %s', (text, count) => {
    expect(countValues(Buffer.from(text), 64)).toBe(count);
  });
});

describe('readRawBody (D62, D77)', () => {
  const room = new ByteBudget(16);
  /** Responds with the body that was read, whether it was read synchronously, and whether the budget counted it. */
  const server = createServer((req, res) => {
    void (async () => {
      const ctx = {
        req,
        res,
        state: { startedAt: performance.now(), countRefusal: () => undefined },
      } as unknown as HttpContext;
      const reading = readRawBody(ctx, room);
      await new Promise(setImmediate);
      const wasHere = req.complete;
      const { bytes, release: leave } = await reading;
      const counted = room.isOverHalf;
      leave();
      leave();
      res.setHeader('connection', 'close');
      res.end(JSON.stringify({ length: bytes?.length ?? null, wasHere, counted, left: !room.isOverHalf }));
    })();
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => void server.close());

  /** Sends a request body in these chunks, each after the previous one was read, and returns the response. */
  async function send(...pieces: readonly string[]): Promise<unknown> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      .setNoDelay()
      .setEncoding('latin1');
    const closed = once(socket, 'close');
    let answer = '';
    socket.on('data', (text: string) => (answer += text));
    for (const piece of pieces)
      await new Promise<void>((resolve) => void socket.write(piece, 'latin1', () => setTimeout(resolve, 20)));
    await closed;
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as unknown;
  }
  const head = (...lines: readonly string[]): string => ['POST / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');
  const body = 'b'.repeat(12);

  it('reads a body that arrives together with the headers, and releases its bytes in the byte budget after use', async () => {
    const whole = { length: 12, wasHere: true, counted: true, left: true };
    expect(await send(head('Content-Length: 12') + body)).toEqual(whole);
    expect(await send(`${head('Transfer-Encoding: chunked')}4\r\nbbbb\r\n8\r\nbbbbbbbb\r\n0\r\n\r\n`)).toEqual(whole);
  });

  it('reads a body that arrives after the headers, and releases its bytes in the byte budget after use', async () => {
    const late = { length: 12, wasHere: false, counted: true, left: true };
    expect(await send(head('Content-Length: 12'), body)).toEqual(late);
    expect(await send(head('Content-Length: 12') + body.slice(0, 5), body.slice(5))).toEqual(late);
  });

  it('reads a body only up to the limit, and returns an empty body for a request without one', async () => {
    expect(await send(head(`Content-Length: ${maxBodyBytes + 1}`) + body)).toMatchObject({
      length: null,
      counted: false,
    });
    expect(await send(head())).toMatchObject({ length: 0, counted: false });
  });
});
