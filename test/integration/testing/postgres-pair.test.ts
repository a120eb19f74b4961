/** A primary and its standby PostgreSQL server lose the connection to each other (rules/operations#promises). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PostgresPair, runStatements, startPostgresPair, waitFor } from '#libs/product/testing';

let dir: string;
let pair: PostgresPair;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'coherence-pair-'));
  pair = await startPostgresPair({ dir, synchronous: true });
});
afterAll(async () => {
  await pair.stop();
  rmSync(dir, { recursive: true, force: true });
});

const add = (id: number): Promise<unknown> => runStatements(pair.primary.url, `insert into kept values (${id})`);
const list = async (url: string): Promise<unknown[]> =>
  (await runStatements(url, 'select id from kept order by id')).map(({ id }) => id);

/** Writes rows one after the other until the primary is lost. @returns the acknowledged writes */
async function loseUnderLoad(first: number): Promise<number[]> {
  const answered: number[] = [];
  const writing = (async () => {
    for (let id = first; ; id++) {
      await add(id);
      answered.push(id);
    }
  })().catch(() => undefined);
  await waitFor(() => answered.length >= 20, { what: 'writes' });
  await pair.losePrimary();
  await writing;
  await pair.promote();
  return answered;
}

describe('PostgreSQL with a synchronous standby', () => {
  it('keeps all acknowledged rows after the loss of one server and, after its recovery, of the other server', async () => {
    await runStatements(pair.primary.url, 'create table kept (id int primary key)');
    const lost = pair.primary.url;
    const first = await loseUnderLoad(1_000);
    expect(pair.primary.url).not.toBe(lost);
    expect(await list(pair.primary.url)).toEqual(expect.arrayContaining(first));
    await pair.rejoin();
    expect(pair.standby.url).toBe(lost);
    const second = await loseUnderLoad(2_000);
    expect(pair.primary.url).toBe(lost);
    expect(await list(lost)).toEqual(expect.arrayContaining([...first, ...second]));
  }, 240_000);
});
