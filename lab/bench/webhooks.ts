/**
 * `npm run bench:webhooks`: delivers events to receivers of which three of ten fail, hang, redirect, answer 410 or drop
 * the connection (V6, V7). Measures the delay of healthy endpoints while others fail; after recovery, every endpoint
 * must receive every event. Uses dedicated PostgreSQL, NATS and services, two processes of each service.
 * - `--deliveries N`: total number of deliveries (10,000)
 * - `--endpoints N`: receivers (20)
 * - `--rate N`: deliveries started per second (50)
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startWebhookReceiver } from '../../libs/product/testing/webhook-receiver.ts';
import { startFaultEnvironment } from './feed-environment.ts';
import { isWithinTargets, runDeliveries } from './webhook-deliveries.ts';

const text = (value: string): { type: 'string'; default: string } => ({ type: 'string', default: value });
const { values } = parseArgs({ options: { deliveries: text('10000'), endpoints: text('20'), rate: text('50') } });
const count = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1`);
  return value;
};
const startedAt = performance.now();
const log = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
};

const size = { deliveries: count('deliveries'), endpoints: count('endpoints'), rate: count('rate') };
const receiver = await startWebhookReceiver();
const environment = await startFaultEnvironment(mkdtempSync(join(tmpdir(), 'coherence-webhooks-')), {
  WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
});
try {
  const rows = await runDeliveries(environment, receiver, { ...size, log });
  console.table(rows);
  if (!isWithinTargets(rows)) process.exitCode = 1;
} finally {
  await environment.stop();
  await receiver.stop();
}
