/** A webhook receiver: stores received requests, and responds as configured. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/**
 * `hang` never responds, `endless` responds with 200 and a body that does not end, `drop` closes the connection, a
 * number is the status; `redirect` leads to `/elsewhere`.
 */
export type ReceiverAnswer = number | 'hang' | 'endless' | 'drop' | 'redirect';

export interface ReceivedWebhook {
  readonly path: string;
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  /** The received body, unchanged. */
  readonly body: string;
  readonly atMs: number;
  readonly answer: ReceiverAnswer;
}

export interface WebhookReceiver {
  readonly port: number;
  readonly received: readonly ReceivedWebhook[];
  /** Returns the maximum number of concurrent requests to a path so far. */
  maxOpen(path: string): number;
  url(path: string): string;
  /**
   * Sets the response for the path; default 204. A function receives the index of the request among the requests to
   * this path.
   */
  answer(path: string, answer: ReceiverAnswer | ((place: number) => ReceiverAnswer | Promise<ReceiverAnswer>)): void;
  stop(): Promise<void>;
}

/**
 * Starts the receiver.
 * @param requestedPort 0: any free port
 */
export async function startWebhookReceiver(requestedPort = 0): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const answers = new Map<string, (place: number) => ReceiverAnswer | Promise<ReceiverAnswer>>();
  const open = new Map<string, { now: number; most: number; count: number }>();
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '';
      const state = open.get(path) ?? { now: 0, most: 0, count: 0 };
      open.set(path, state);
      state.now++;
      state.count++;
      state.most = Math.max(state.most, state.now);
      response.on('close', () => state.now--);
      const slot = state.count;
      const body = await readText(request);
      const answer = (await answers.get(path)?.(slot)) ?? 204;
      received.push({
        path,
        id: String(request.headers['webhook-id']),
        headers: request.headers,
        body,
        atMs: Date.now(),
        answer,
      });
      give(response, answer);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(requestedPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    received,
    maxOpen: (path) => open.get(path)?.most ?? 0,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    answer: (path, answer) => answers.set(path, typeof answer === 'function' ? answer : () => answer),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function give(response: ServerResponse, answer: ReceiverAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'endless') response.writeHead(200).write('more ');
  else if (answer === 'drop') response.destroy();
  else if (answer === 'redirect') response.writeHead(302, { location: '/elsewhere' }).end();
  else response.writeHead(answer).end();
}
