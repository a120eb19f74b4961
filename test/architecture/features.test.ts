import { describe, expect, it } from '@jest/globals';
import { findCircles } from './circles.ts';
import { findFeatureViolations } from './features.ts';
import { readSources } from './sources.ts';

describe('features of services (CONTRIBUTING.md)', () => {
  it('every file respects the roles of a feature', () => {
    const files = readSources('services');
    expect(files.length).toBeGreaterThan(300);
    expect(findFeatureViolations(files)).toEqual([]);
  });

  it.each([
    [
      'services/media/video/handlers.ts',
      "import { a } from '../audio/statements.ts';",
      'reached through its index.ts or contract.ts',
    ],
    [
      'services/media/video/handlers.ts',
      "import type { A } from '../audio/rules/cut.ts';",
      'reached through its index.ts or contract.ts',
    ],
    [
      'services/media/access.ts',
      "import { a } from './audio/handlers.ts';",
      'reached through its index.ts or contract.ts',
    ],
    [
      'services/media/audio/workers.ts',
      "import { a } from './handlers.ts';",
      'workers import services/media/audio/handlers.ts',
    ],
    [
      'services/media/audio/workers/cut.ts',
      "import { a } from '../handlers/cut.ts';",
      'workers import services/media/audio/handlers/cut.ts',
    ],
    [
      'services/media/audio/rules.ts',
      "import { createBus } from '#libs/infrastructure/nats';",
      'rules import #libs/infrastructure/nats',
    ],
    [
      'services/media/audio/rules/cut.ts',
      "import { readFile } from 'node:fs/promises';",
      'rules import node:fs/promises',
    ],
    [
      'services/media/audio/rules.ts',
      "import { insert } from './statements.ts';",
      'rules import services/media/audio/statements.ts',
    ],
    ['services/media/audio/handlers.ts', "import { sql } from '#libs/infrastructure/sql';", 'declares SQL'],
    ['services/media/audio/handlers.ts', "import { statement } from '#libs/infrastructure/sql';", 'declares SQL'],
    ['services/media/service.ts', 'const text = `delete from media.files`;', 'has SQL in its text'],
    [
      'services/media/audio/workers.ts',
      'const text = `\n  with due as (\n select 1) select 2`;',
      'has SQL in its text',
    ],
  ])('reports the violation in %s: %s', (path, text, what) => {
    expect(findFeatureViolations([{ path, text }])).toEqual([expect.stringContaining(what)]);
  });

  it('detects SQL outside of statements in a feature', () => {
    const file = {
      path: 'services/media/audio/statements.ts',
      text: 'const rows = await db.query<Row>(findFile, [7]);',
    };
    expect(findFeatureViolations([file])).toEqual([expect.stringContaining('runs SQL past the statements')]);
  });

  it('detects IO that a rules file imports indirectly', () => {
    const files = [
      { path: 'services/media/audio/rules.ts', text: "import { a } from '../clock.ts';" },
      { path: 'services/media/clock.ts', text: "import { request } from 'node:http';" },
    ];
    expect(findFeatureViolations(files)).toEqual([
      'services/media/audio/rules.ts: rules import node:http through services/media/clock.ts',
    ]);
  });

  it.each([
    ['services/media/service.ts', "import { a } from './audio/workers.ts';\nimport { b } from './video/handlers.ts';"],
    [
      'services/media/video/handlers.ts',
      "import { a } from '../audio/index.ts';\nimport { b } from '../audio/contract.ts';",
    ],
    [
      'services/media/video/handlers.ts',
      "import { a } from './statements.ts';\nimport { b } from '../entities/file.entity.ts';",
    ],
    [
      'services/media/audio/rules.ts',
      "import type { Queryable } from '#libs/infrastructure/sql';\nimport { a } from '#libs/infrastructure/errors';",
    ],
    [
      'services/media/audio/statements/cut.ts',
      "import { sql } from '#libs/infrastructure/sql';\nexport const text = `select id from media.files`;",
    ],
    ['services/media/visibility.ts', "import { sql } from '#libs/infrastructure/sql';"],
    ['services/media/audio/handlers.test.ts', "import { a } from '../video/statements.ts';"],
    ['services/media/audio/handlers.ts', "throw invalid('Select a file from the list');"],
    ['services/api-gateway/routes/files.ts', "import { a } from '../handlers/files.ts';"],
  ])('accepts the code in %s: %s', (path, text) => {
    expect(findFeatureViolations([{ path, text }])).toEqual([]);
  });
});

describe('imports', () => {
  it('imports, including type imports, have no cycles', () => {
    expect(findCircles(readSources('services', 'libs', 'cli', 'lab', 'tools', 'clients'))).toEqual([]);
  });

  it('detects a cycle of imports', () => {
    const files = [
      { path: 'libs/a/index.ts', text: "export { b } from './b.ts';" },
      { path: 'libs/a/b.ts', text: "import type { C } from '#libs/c';" },
      { path: 'libs/c/index.ts', text: "import { a } from '../a/index.ts';" },
    ];
    expect(findCircles(files)).toEqual(['libs/c/index.ts → libs/a/b.ts → libs/a/index.ts']);
  });
});
