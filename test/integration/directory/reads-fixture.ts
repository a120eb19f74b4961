/** The fixture network and its accounts as callers, for tests of API reads. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Actor } from '#libs/infrastructure/contract';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

export interface ReadsFixture extends DirectoryFixture {
  /** Returns the id of the fixture object `key`; returns 0 when the object does not exist. */
  idOf(list: string, key: string): number;
  /** Actors by account name. */
  readonly actors: Readonly<Record<string, Actor>>;
}

export async function startReadsFixture(fileUrl: string): Promise<ReadsFixture> {
  const fixture = await startDirectoryFixture(fileUrl);
  const file = join(import.meta.dirname, '..', '..', 'fixtures', 'v1-network.yaml');
  const { ids } = await fixture.apply(parse(readFileSync(file, 'utf8')));
  const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;
  const actors: Record<string, Actor> = {};
  for (const [email, accountId] of Object.entries(ids['accounts'] ?? {})) {
    const name = email.split('@')[0] ?? '';
    actors[name] = {
      kind: 'user',
      accountId,
      personId: idOf('people', name),
      superuser: name === 'root',
      globalEditor: name === 'editor',
      coherenceAccess: false,
    };
  }
  return { ...fixture, idOf, actors };
}

export const slugs = (body: { items: { slug: string }[] }): string[] => body.items.map(({ slug }) => slug);
export const names = (body: { items: { name: string }[] }): string[] => body.items.map(({ name }) => name);
