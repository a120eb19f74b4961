import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { compileSchemaForAll } from '#libs/infrastructure/schema';
import { parse } from 'yaml';
import { checkDocument } from '../../services/directory/workspace/rules/check-document.ts';
import { checkItem, type ItemProblem } from '../../cli/bulk-import/check-item.ts';
import { makeWorkspaceSchema } from './workspace-schema.ts';
import { listTexts } from './workspace-texts.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const check = compileSchemaForAll(makeWorkspaceSchema());
const findProblems = (document: unknown): string[] =>
  check(document).map(({ path, message }) => `${path.join('.')} ${message}`);

/**
 * Returns the errors that the services find. Lists that the directory does not own are not validated by the directory.
 */
function findByCode(document: Record<string, unknown>): unknown[] {
  const { agents: _agents, conversations = [], ...own } = document;
  const problems: ItemProblem[] = [];
  for (const item of conversations as unknown[]) checkItem(item, problems);
  return [...checkDocument(withoutVariables(own)).problems, ...problems];
}

const withoutVariables = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
    typeof item === 'object' && item !== null && 'env' in item ? 'a secret of the environment' : item,
  );

describe('the schema of the workspace file (docs/workspace.schema.json)', () => {
  it.each(['demo-workspace.yaml', 'v1-network.yaml'])('accepts test/fixtures/%s', (file) => {
    expect(findProblems(parse(readFileSync(join(repoDir, 'test', 'fixtures', file), 'utf8')))).toEqual([]);
  });

  it.each(Object.entries(listTexts))(
    'accepts the example of %s, like the workspace check in the code',
    (name, { example }) => {
      const document = { [name]: parse(example) as unknown };
      expect([findProblems(document), findByCode(document)]).toEqual([[], []]);
    },
  );

  it.each([
    ['a list that nobody knows', { persons: [] }],
    ['a list that is none', { people: {} }],
    ['a field that nobody knows', { people: [{ key: 'ada', name: 'Ada', age: 7 }] }],
    ['a missing key', { people: [{ name: 'Ada' }] }],
    ['a blank name', { people: [{ key: 'ada', name: ' ' }] }],
    ['null where there is no empty value', { people: [{ key: 'ada', name: null }] }],
    ['text in the place of a flag', { spheres: [{ key: 'media', name: 'Media', is_active: 'no' }] }],
    ['a slug with a space', { holons: [{ slug: 'spring 2026', name: 'Spring' }] }],
    ['a country of three letters', { holons: [{ slug: 'spring', name: 'Spring', locations: ['DEU'] }] }],
    ['a place named twice', { holons: [{ slug: 'spring', name: 'Spring', spheres: ['a', 'a'] }] }],
    ['a date of another form', { memberships: [{ person: 'a', holon: 'b', follow_up_after: '1.6.2026' }] }],
    ['a membership in nothing', { memberships: [{ person: 'a' }] }],
    ['an email without an @', { accounts: [{ email: 'ada' }] }],
    [
      'a type that no field has',
      {
        classes: [{ slug: 'a', config: { info_field_groups: [{ key: 'a', fields: [{ key: 'b', type: 'colour' }] }] } }],
      },
    ],
    ['a step without a slug', { journeys: [{ slug: 'a', name: 'A', steps: [{ title: 'A' }] }] }],
    ['a conversation without a key', { conversations: [{ journey: 'a' }] }],
    ['a row of a transcript without text', { conversations: [{ key: 'a', transcript: [{ start_ms: 0, end_ms: 1 }] }] }],
    ['a file of a recording that nobody knows', { conversations: [{ key: 'a', recording: { half: 'a.mp4' } }] }],
  ])('rejects %s, like the workspace check in the code', (_what, document) => {
    expect([findProblems(document).length > 0, findByCode(document).length > 0]).toEqual([true, true]);
  });

  it.each([
    [
      'every text, list and object',
      { holons: [{ slug: 'a', description: null, links: null, locations: null, spheres: null, infos: null }] },
    ],
    [
      'what may be none',
      {
        memberships: [{ person: 'a', holon: 'b', journey: null, step: null, follow_up_after: null, responsible: null }],
      },
    ],
    ['a list', { people: null, agents: null }],
    [
      'fields of a conversation',
      { conversations: [{ key: 'a', start: null, participants: null, audio: null, recording: null }] },
    ],
  ])('accepts null for %s, like the workspace check in the code', (_what, document) => {
    const { agents: _agents, ...own } = document as Record<string, unknown>;
    expect([findProblems(document), findByCode(own)]).toEqual([[], []]);
  });
});
