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
    ['services/media/handlers/a.ts', "import pg from 'pg';", 'imports pg, which only libs/infrastructure/orm may'],
    [
      'services/media/handlers/a.ts',
      "import type { S3Client } from '@aws-sdk/client-s3';",
      'only libs/infrastructure/object-store may',
    ],
    [
      'libs/infrastructure/jobs/a.ts',
      "import { connect } from '@nats-io/transport-node';",
      'only libs/infrastructure/nats may',
    ],
    ['libs/infrastructure/nats/a.ts', "import Ajv from 'ajv/dist/2020.js';", 'only libs/infrastructure/schema may'],
    ['services/agents/a.ts', "export { default } from 'pino';", 'only libs/infrastructure/logger may'],
    ['services/agents/a.ts', "const koa = await import('koa');", 'only libs/infrastructure/http may'],
    ['services/agents/a.ts', "import sharp from 'sharp';", 'imports sharp, which only services/media may'],
    ['services/agents/a.ts', "import { Type } from 'typebox';", 'only libs/infrastructure/contract may'],
    ['services/agents/a.ts', "import { x } from '@some/package/part.js';", 'imports @some/package, which no part may'],
    ['cli/a.ts', "import pg from 'pg';", 'only libs/infrastructure/orm may'],
    ['services/agents/a.ts', "import { people } from '../directory/repositories/people.ts';", 'of services/directory'],
    [
      'services/agents/a.ts',
      "import {\n  a,\n  b,\n} from '../../libs/infrastructure/orm/database.ts';",
      'of libs/infrastructure/orm',
    ],
    ['libs/infrastructure/jobs/a.ts', "import { x } from '#services/media';", 'a library imports #services/media'],
    ['libs/infrastructure/jobs/a.ts', "import { waitFor } from '#libs/product/testing';", 'outside tests'],
    ['libs/infrastructure/jobs/a.ts', "import { x } from '#libs/product/pipeline';", 'the infrastructure imports'],
    ['libs/product/testing/a.ts', "import { x } from '../../../tools/start/main.ts';", 'of tools'],
    ['libs/product/testing/a.ts', "import { run } from '../../../cli/run.ts';", 'of cli'],
    ['cli/a.ts', "import { x } from '../tools/generate.ts';", 'of tools'],
    ['cli/a.ts', "import { x } from '../libs/product/servers/ports.ts';", 'of libs/product/servers'],
    ['services/media/a.ts', "import { startPostgres } from '#libs/product/servers';", 'not in the image'],
    ['services/agents/a.ts', "const url = process.env['X'];", 'reads process.env'],
  ])('reports the forbidden import in %s: %s', (path, text, what) => {
    expect(findBorderViolations([{ path, text }])).toEqual([expect.stringContaining(what)]);
  });

  it.each([
    [
      'services/media/a.ts',
      "import { people } from '#services/directory';\nimport { createBus } from '#libs/infrastructure/nats';",
    ],
    ['services/media/a.ts', "import { b } from './domain/b.ts';\nimport { c } from '../media/c.ts';"],
    ['libs/infrastructure/orm/a.ts', "import pg from 'pg';\nimport { join } from 'node:path/posix';"],
    ['cli/a.ts', "import { Command } from 'commander';"],
    ['lab/bench/a.ts', "import pg from 'pg';"],
    ['libs/infrastructure/jobs/jobs.test.ts', "import { waitFor } from '#libs/product/testing';"],
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
      [...listLoaded(files, `services/${service}/service.ts`)].filter((path) =>
        path.startsWith('libs/infrastructure/orm/'),
      );
    expect(database('media')).toContain('libs/infrastructure/orm/database.ts');
    expect(database('api-gateway')).toEqual([]);
  });

  it('no service or command loads MikroORM at its start', () => {
    const files = readSources('services', 'libs', 'cli', 'tools');
    const loaded = (path: string, withLazy: boolean): string[] =>
      [...listLoaded(files, path, { withLazy })].filter((file) =>
        /^libs\/infrastructure\/orm\/(entities|migrations)\//.test(file),
      );
    const programs = files
      .map(({ path }) => path)
      .filter((path) => /^services\/[^/]+\/service\.ts$|^cli\/[^/]+(\/index)?\.ts$/.test(path));
    expect(programs).toEqual(
      expect.arrayContaining(['services/directory/service.ts', 'cli/backup/index.ts', 'cli/doctor.ts']),
    );
    expect(programs.flatMap((path) => loaded(path, false))).toEqual([]);
    expect(loaded('services/directory/service.ts', true)).toContain(
      'libs/infrastructure/orm/entities/entity-managers.ts',
    );
    expect(loaded('cli/backup/index.ts', true)).toContain('libs/infrastructure/orm/migrations/migrate.ts');
  });
});
