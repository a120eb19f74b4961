/**
 * Runs the shop in a separate process. The text of an `effect` job defines where its handler pauses: `before` the
 * effect, `inside` its transaction, or `after` its commit. The handler continues on the message `{go: true}`.
 */
import { createLogger } from '#libs/infrastructure/logger';
import { addEffect, openReplica } from './fixture.ts';

const tell = (message: object): void => void process.send?.(message);
let go = (): void => {};
const gate = new Promise<void>((resolve) => (go = resolve));
process.on('message', () => go());

const settings = process.env as Record<string, string>;
const replica = await openReplica(
  { settings, logger: createLogger({ service: 'shop', level: settings['LOG_LEVEL'] ?? 'fatal' }) },
  {
    name: settings['WORKER_NAME'] ?? 'process',
    tuning: { leaseMs: Number(settings['LEASE_MS'] ?? 1_500), stopGraceMs: Number(settings['STOP_GRACE_MS'] ?? 500) },
    handlers: {
      effect: async ({ id, payload: { n, text }, complete, attempt, signal }) => {
        const stopAt = async (place: string): Promise<void> => {
          if (text !== place) return;
          tell({ at: place, id, attempt });
          await Promise.race([
            gate,
            new Promise((_resolve, reject) =>
              signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason as Error), 300)),
            ),
          ]);
        };
        try {
          await stopAt('before');
          await complete(async (tx) => {
            await tx.query(addEffect, [n, id]);
            await stopAt('inside');
          });
          tell({ done: id, attempt });
          await stopAt('after');
        } catch (error) {
          tell({ failed: id, attempt, error: (error as Error).name });
          throw error;
        }
      },
    },
  },
);
process.once('SIGTERM', () => void replica.stop().then(() => process.exit(0)));
tell({ ready: true });
