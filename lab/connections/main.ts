/**
 * `node lab/connections/main.ts`: prints the table of docs/scaling.md, connections at PostgreSQL for 1 to 50 pods of each service.
 *   --pool N      DATABASE_POOL_SIZE (default 10)
 *   --role N      default_pool_size of PgBouncer (default 20)
 *   --pods N,…    pods of each service (default 1,2,3,5,10,20,50)
 */
import { parseArgs } from 'node:util';
import { readPlatformFacts } from '../../tools/generate/chart.ts';
import { renderConnections } from './connections.ts';
import { listDatabaseComponents } from './components.ts';

const { values } = parseArgs({
  options: {
    pool: { type: 'string', default: '10' },
    role: { type: 'string', default: '20' },
    pods: { type: 'string', default: '1,2,3,5,10,20,50' },
  },
});
const pods = values.pods.split(',').map(Number);
const [ofProcess, ofRole] = [Number(values.pool), Number(values.role)];
if (![...pods, ofProcess, ofRole].every((number) => Number.isInteger(number) && number > 0)) {
  process.stderr.write('--pool, --role and --pods take whole numbers above 0\n');
  process.exitCode = 2;
} else {
  const components = listDatabaseComponents(await readPlatformFacts());
  process.stdout.write(`${renderConnections(pods, { components, ofProcess, ofRole })}\n`);
}
