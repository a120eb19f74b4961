import { describe, expect, it } from '@jest/globals';
import { findBorderViolations, nameOutside, packagesOf } from './borders.ts';
import { listImports, listLoaded } from './imports.ts';
import { readSources } from './sources.ts';

describe('borders of services and libraries (architecture#contracts)', () => {
  it('every file respects the import borders', () => {
    const files = readSources('services', 'libs', 'cli', 'lab', 'tools', 'test');
    expect(files.length).toBeGreaterThan(50);
    expect(findBorderViolations(files)).toEqual([]);
  });

  it.each([
    ['services/media/handlers/a.ts', "import pg from 'pg';", 'imports pg, which only libs/orm may'],
    [
      'services/media/handlers/a.ts',
      "import type { S3Client } from '@aws-sdk/client-s3';",
      'only libs/object-store may',
    ],
    ['libs/jobs/a.ts', "import { connect } from '@nats-io/transport-node';", 'only libs/nats may'],
    ['libs/nats/a.ts', "import Ajv from 'ajv/dist/2020.js';", 'only libs/schema may'],
    ['services/agents/a.ts', "export { default } from 'pino';", 'only libs/logger may'],
    ['services/agents/a.ts', "const koa = await import('koa');", 'only libs/http may'],
    ['services/agents/a.ts', "import sharp from 'sharp';", 'imports sharp, which only services/media may'],
    ['services/agents/a.ts', "import { Type } from 'typebox';", 'only libs/contract may'],
    ['services/agents/a.ts', "import { x } from '@some/package/part.js';", 'imports @some/package, which no part may'],
    ['cli/a.ts', "import pg from 'pg';", 'only libs/orm may'],
    ['services/agents/a.ts', "import { people } from '../directory/repositories/people.ts';", 'of services/directory'],
    ['services/agents/a.ts', "import {\n  a,\n  b,\n} from '../../libs/orm/database.ts';", 'of libs/orm'],
    ['libs/jobs/a.ts', "import { x } from '#services/media';", 'a library imports #services/media'],
    ['libs/jobs/a.ts', "import { waitFor } from '#libs/testing';", 'outside tests'],
    ['libs/testing/a.ts', "import { x } from '../../tools/start/main.ts';", 'of tools'],
    ['libs/testing/a.ts', "import { run } from '../../cli/run.ts';", 'of cli'],
    ['cli/a.ts', "import { x } from '../tools/generate.ts';", 'of tools'],
    ['cli/a.ts', "import { x } from '../libs/servers/ports.ts';", 'of libs/servers'],
    ['services/media/a.ts', "import { startPostgres } from '#libs/servers';", 'not in the image'],
    ['services/agents/a.ts', "const url = process.env['X'];", 'reads process.env'],
  ])('reports the forbidden import in %s: %s', (path, text, what) => {
    expect(findBorderViolations([{ path, text }])).toEqual([expect.stringContaining(what)]);
  });

  it.each([
    ['services/media/a.ts', "import { people } from '#services/directory';\nimport { createBus } from '#libs/nats';"],
    ['services/media/a.ts', "import { b } from './domain/b.ts';\nimport { c } from '../media/c.ts';"],
    ['libs/orm/a.ts', "import pg from 'pg';\nimport { join } from 'node:path/posix';"],
    ['cli/a.ts', "import { Command } from 'commander';"],
    ['lab/bench/a.ts', "import pg from 'pg';"],
    ['libs/jobs/jobs.test.ts', "import { waitFor } from '#libs/testing';"],
  ])('accepts the import in %s: %s', (path, text) => {
    expect(findBorderViolations([{ path, text }])).toEqual([]);
  });

  it('every package in the list of a part is imported by this part', () => {
    const files = readSources('services', 'libs').filter(({ path }) => !path.endsWith('.test.ts'));
    const unused = Object.entries(packagesOf).flatMap(([part, names]) => {
      const own = files.filter(({ path }) => path.startsWith(`${part}/`));
      const imported = new Set(
        own.flatMap(({ text }) => listImports(text).map(({ specifier }) => nameOutside(specifier))),
      );
      return names.filter((name) => !imported.has(name)).map((name) => `${part}: ${name}`);
    });
    expect(unused).toEqual([]);
  });

  it('the gateway does not load the database libraries', () => {
    const files = readSources('services', 'libs');
    const database = (service: string): string[] =>
      [...listLoaded(files, `services/${service}/service.ts`)].filter((path) => path.startsWith('libs/orm/'));
    expect(database('media')).toContain('libs/orm/database.ts');
    expect(database('api-gateway')).toEqual([]);
  });

  it('no service or command loads MikroORM at its start', () => {
    const files = readSources('services', 'libs', 'cli', 'tools');
    const loaded = (path: string, withLazy: boolean): string[] =>
      [...listLoaded(files, path, { withLazy })].filter((file) => /^libs\/orm\/(entities|migrations)\//.test(file));
    const programs = files
      .map(({ path }) => path)
      .filter((path) => /^services\/[^/]+\/service\.ts$|^cli\/[^/]+(\/index)?\.ts$/.test(path));
    expect(programs).toEqual(
      expect.arrayContaining(['services/directory/service.ts', 'cli/backup/index.ts', 'cli/doctor.ts']),
    );
    expect(programs.flatMap((path) => loaded(path, false))).toEqual([]);
    expect(loaded('services/directory/service.ts', true)).toContain('libs/orm/entities/entity-managers.ts');
    expect(loaded('cli/backup/index.ts', true)).toContain('libs/orm/migrations/migrate.ts');
  });
});
