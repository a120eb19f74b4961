import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findMigrations } from './migrations.ts';

let repoDir: string;
let dataDir: string;
const arePending = (isEmbedded = true): boolean => findMigrations(repoDir, dataDir, isEmbedded).arePending;

beforeEach(() => {
  repoDir = mkdtempSync(join(tmpdir(), 'coherence-migrations-'));
  dataDir = join(repoDir, '.data');
  mkdirSync(join(repoDir, 'services', 'media', 'migrations'), { recursive: true });
  mkdirSync(dataDir);
  writeFileSync(join(repoDir, 'services', 'media', 'migrations', 'index.ts'), 'first');
  writeFileSync(join(dataDir, 'postgres.password'), 'of this database');
});
afterEach(() => {
  rmSync(repoDir, { recursive: true, force: true });
});

describe('migrations of npm start', () => {
  it('skips migrations that were already applied to the embedded database', () => {
    expect(arePending()).toBe(true);
    findMigrations(repoDir, dataDir, true).markDone();
    expect(arePending()).toBe(false);
  });

  it.each([
    ['a migration changes', 'services/media/migrations/index.ts'],
    ['a migration is added', 'services/media/migrations/second.ts'],
    ['the database is made anew', '.data/postgres.password'],
  ])('runs migrations again when %s', (_when, file) => {
    findMigrations(repoDir, dataDir, true).markDone();
    writeFileSync(join(repoDir, file), 'another');
    expect(arePending()).toBe(true);
  });

  it('always runs migrations for an external database', () => {
    findMigrations(repoDir, dataDir, false).markDone();
    expect(arePending(false)).toBe(true);
    expect(arePending(true)).toBe(true);
  });
});
