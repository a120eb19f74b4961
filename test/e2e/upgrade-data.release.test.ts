/**
 * Migrates a used database under load while a reader holds its tables, then replaces the code and rolls it back
 * (docs/guides/upgrading.md; rules/operations#migrations-and-streams).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type TestEnvironment, waitFor } from '#libs/product/testing';
import { makePreviousDatabase, type MigrationProcess, peopleOf, startMigration } from './previous-data.ts';
import { layOutPreviousRelease, type PreviousRelease } from './previous-release.ts';
import {
  applyDemo,
  createConversation,
  type Demo,
  fetchNamed,
  startTestPlatform,
  type TestPlatform,
} from './test-platform.ts';

const rows = 200_000;
const timeoutMs = 1_800_000;
const services = ['directory', 'conversations', 'api-gateway'];
const repoDir = process.cwd();

let previous: PreviousRelease;
let env: Pick<TestEnvironment, 'settings'>;
let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  previous = layOutPreviousRelease();
  const prepare = async (own: TestEnvironment): Promise<Record<string, string>> => {
    env = own;
    await makePreviousDatabase(own, previous.dir, rows);
    return {};
  };
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services, processes: true, startedFrom: previous.dir, prepare },
  );
  demo = await applyDemo(platform, 'upgrade');
}, timeoutMs);
afterAll(() => platform.stop());

/**
 * Starts clients that read, write and create conversations until stopped; every response other than 2xx is a failure.
 */
function startLoad(): { answered(): number; stop(): Promise<string[]> } {
  let answered = 0;
  const stopping = new AbortController();
  const failures: string[] = [];
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const init = {
      method,
      headers: { authorization: `Bearer ${platform.sharedToken}`, 'content-type': 'application/json' },
    };
    const answer = await fetchNamed(
      `${platform.baseUrl}${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    ).catch(String);
    if (typeof answer === 'string') return void failures.push(`${method} ${path}: ${answer}`);
    const text = await answer.text();
    if (!answer.ok) return void failures.push(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`);
    answered++;
    return JSON.parse(text);
  };
  const live = async (number: number): Promise<void> => {
    for (let count = 0; !stopping.signal.aborted; count++) {
      const time = new Date(Date.UTC(2031, number, 1, 0, count)).toISOString();
      const path = `/api/coherence/conversations?person_id=${demo.ada}&journey=${demo.journey}&time=${time}`;
      const [found] = (await call('GET', path)) ?? [];
      if (found === undefined) continue;
      await call('PATCH', `/api/coherence/conversations/${found.id}`, { infos: { count } });
      await call('GET', `/api/coherence/conversations/${found.id}`);
      await call('GET', `/api/coherence/conversations/${1_000_001 + (count % rows)}`);
    }
  };
  const running = Array.from({ length: 3 }, (_, number) => live(number));
  return {
    answered: () => answered,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
      return failures;
    },
  };
}

/**
 * Opens a transaction that has read the tables to be migrated. A `repeatable read` transaction, as backup tools use it,
 * prevents index builds; a `read committed` transaction only holds its locks.
 */
async function openReader(isolation: 'repeatable read' | 'read committed'): Promise<pg.Client> {
  const reader = new pg.Client({ connectionString: env.settings['DATABASE_URL'], application_name: 'long-reader' });
  await reader.connect();
  await reader.query(`begin isolation level ${isolation} read only`);
  for (const table of ['bookings', 'jobs', 'webhook_receipts'])
    await reader.query(`select count(*) from conversations.${table}`);
  await reader.query('select count(*) from agents.messages');
  return reader;
}

async function waitForLine(migration: MigrationProcess, line: RegExp): Promise<void> {
  await waitFor(
    async () => {
      if (line.test(migration.output())) return true;
      const ended = await Promise.race([migration.status, Promise.resolve('running')]);
      if (ended !== 'running') throw new Error(`the migration has ended: ${migration.output()}`);
      return false;
    },
    { timeoutMs, what: 'the migration names the reader' },
  );
}

async function replaceServices(codeDir: string): Promise<void> {
  for (const name of services) {
    const item = platform.runtime.processes.get(name);
    item?.kill('SIGTERM');
    expect([name, await item?.ended]).toEqual([name, 'ended with status 0']);
    await platform.runtime.restart(name, {}, codeDir);
  }
}

async function isServed(): Promise<boolean> {
  const { id } = await createConversation(platform, demo);
  const written = await platform.call('PATCH', `/api/coherence/conversations/${id}`, {
    json: { infos: { served: true } },
  });
  return written.status === 200 && written.json.infos.served === true;
}

describe('upgrade of the database of the previous release', () => {
  it(
    'migrates while a reader locks the tables, also after an interruption, without failed requests or lost rows',
    async () => {
      const load = startLoad();
      const servedMore = async (count: number): Promise<void> => {
        const enough = load.answered() + count;
        await waitFor(() => load.answered() >= enough, { timeoutMs, what: `${count} more answers` });
      };
      const backup = await openReader('repeatable read');
      const first = startMigration(repoDir, env);
      await waitForLine(first, /the migration waits for long-reader/);
      await servedMore(50);
      first.kill();
      expect([await first.status, first.output()]).toEqual([
        1,
        expect.stringContaining('was interrupted: the process received SIGTERM'),
      ]);
      expect(
        await platform.sql(
          `select pid from pg_stat_activity where application_name like 'migrate%' and datname = current_database()`,
        ),
      ).toEqual([]);
      await backup.end();
      const reader = await openReader('read committed');
      const second = startMigration(repoDir, env);
      await waitForLine(second, /did not get its locks, retrying. Held by: long-reader/);
      await servedMore(50);
      const released = performance.now();
      await reader.end();
      expect([await second.status, second.output()]).toEqual([0, expect.stringContaining('schema migrated')]);
      process.stdout.write(
        `${rows} rows: migrated ${Math.round((performance.now() - released) / 1_000)} s after the reader ended\n`,
      );
      await servedMore(50);
      expect(await load.stop()).toEqual([]);
      expect(await isServed()).toBe(true);
    },
    timeoutMs,
  );

  it('migrates all rows and derived data, and leaves no temporary index or table', async () => {
    const [counts] = await platform.sql(
      `select (select count(*)::integer from conversations.webhook_receipts where dedupe_key like 'filled-%') as receipts,
         (select count(*)::integer from conversations.jobs where type = 'conversations.filled') as jobs,
         (select count(*)::integer from conversations.all_conversations where id > 1000000) as conversations,
         (select count(*)::integer from conversations.question_changes where key like 'filled-%') as events,
         (select count(*)::integer from directory.people where key like 'filled-%') as people,
         (select count(*)::integer from conversations.booking_references) as "references",
         (select count(distinct booking_id)::integer from conversations.booking_hosts) as hosts`,
    );
    expect(counts).toEqual({
      receipts: rows,
      jobs: rows,
      conversations: rows,
      events: rows,
      people: peopleOf(rows),
      references: rows,
      hosts: rows,
    });
    expect(await platform.sql('select indexrelid::regclass::text as name from pg_index where not indisvalid')).toEqual(
      [],
    );
    expect(await platform.sql(`select relname from pg_class where relname = 'migration_progress'`)).toEqual([]);
    expect(await platform.sql(`select conname from pg_constraint where not convalidated`)).toEqual([]);
    expect(await platform.sql(`select search_name from directory.people where key = 'filled-10'`)).toEqual([
      { search_name: 'lukasz ss 10' },
    ]);
  });

  it(
    'serves requests of this release, and then of the previous release again',
    async () => {
      await replaceServices(repoDir);
      expect(await isServed()).toBe(true);
      await replaceServices(previous.dir);
      expect(await isServed()).toBe(true);
    },
    timeoutMs,
  );
});
