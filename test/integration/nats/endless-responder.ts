/** A responder for tests that kill it: streams an endless list and reports that on standard output. */
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus, jsonStream } from '#libs/infrastructure/nats';
import { handlers, library } from './parties.ts';

const bus = await connectBus({
  url: process.env['NATS_URL'] ?? '',
  prefix: process.env['NATS_SUBJECT_PREFIX'],
  name: 'endless',
  logger: createLogger({ service: 'endless', level: 'fatal' }),
});
async function* endless(): AsyncGenerator<string> {
  for (;;) {
    yield 'x'.repeat(50_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
await bus.serve(library, handlers({ listBooks: async () => jsonStream(endless()) }));
console.log('ready');
