/**
 * The browser script of the API reference, extracted from a Fastify plugin. The script's own package would also install
 * the 240 packages that the script is bundled from. A worker thread loads the plugin, so that its memory is released
 * afterwards.
 */
import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';

interface Route {
  readonly url: string;
  readonly handler: (request: undefined, reply: Reply) => void;
}

interface Reply {
  header(): Reply;
  send(text: string): void;
}

/** The part of the Fastify API that the plugin uses. */
type Plugin = (server: object, options: object, done: () => void) => void;

/** Distinguishes the worker thread of this file from other threads that load the file. */
const purpose = 'api-reference';

export async function readDocsBundle(): Promise<Buffer> {
  const thread = new Worker(new URL(import.meta.url), { execArgv: [], workerData: purpose });
  const [script] = (await once(thread, 'message')) as [string];
  return Buffer.from(script, 'utf8');
}

async function sendBundle(): Promise<void> {
  const { default: plugin }: { default: Plugin } = await import('@scalar/fastify-api-reference');
  const routes: Route[] = [];
  const server = {
    initialConfig: {},
    log: console,
    hasPlugin: () => false,
    route: (route: Route) => routes.push(route),
  };
  plugin(server, { configuration: { url: '/' } }, () => undefined);
  const reply: Reply = { header: () => reply, send: (text) => parentPort?.postMessage(text) };
  const route = routes.find(({ url }) => url.endsWith('.js'));
  if (route === undefined) throw new Error('The API reference has no script');
  route.handler(undefined, reply);
}

if (workerData === purpose) await sendBundle();
