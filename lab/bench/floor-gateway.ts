/** Gateway of the baseline: bare koa, with one bare NATS request or one synced JetStream publish per call. */
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import Koa from 'koa';

const connection = await connect({ servers: process.env['NATS_URL'] ?? '', noAsyncTraces: true });
const js = jetstream(connection);
const app = new Koa();

async function readBody(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** `POST /publish` stores the body; `/<operation>` forwards the body, or the query string of a GET, as the request. */
app.use(async (ctx) => {
  const body = ctx.method === 'GET' ? decodeURIComponent(ctx.querystring) : await readBody(ctx.req);
  if (ctx.path === '/publish') {
    await js.publish('floor-webhooks.bookings', body);
    ctx.body = { ok: true };
    return;
  }
  const answer = await connection.request(`floor.${ctx.path.slice(1)}`, body, { timeout: 10_000 });
  ctx.type = 'application/json';
  ctx.body = Buffer.from(answer.data);
});
app.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.('ready'));
