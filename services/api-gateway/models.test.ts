/**
 * Checks the names of models in the documents, because client generators use them: every model has a name, and no name
 * is long (rules/http#live-schema).
 */
import { describe, expect, it } from '@jest/globals';
import { buildDocuments } from './documents.ts';
import { routes } from './routes/index.ts';

type Node = Readonly<Record<string, unknown>>;
const documents = Object.entries(buildDocuments(routes)).map(([name, document]) => ({ name, document }));

/** Calls `visit` with every object of a document and its path. Examples are skipped, as they are data. */
function walk(value: unknown, place: string, visit: (node: Node, place: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value as Node, place);
  for (const [key, item] of Object.entries(value))
    if (key !== 'example' && key !== 'examples') walk(item, `${place}/${key}`, visit);
}

describe.each(documents)('models of the $name document', ({ document }) => {
  const components = document.components.schemas as Readonly<Record<string, Node>>;

  it('names every model: declares no object with fields inline, except for upload parts', () => {
    const unnamed: string[] = [];
    walk(document, '', (node, place) => {
      const isComponent = /^\/components\/schemas\/\w+$/.test(place) || place.includes('multipart');
      if (node['type'] === 'object' && Object.keys(node['properties'] ?? {}).length > 0 && !isComponent)
        unnamed.push(place);
    });
    expect(unnamed).toEqual([]);
  });

  it('limits model names to 40 characters, also with the field name of an open object or enumeration appended', () => {
    const names = Object.entries(components).flatMap(([name, { properties = {} }]) => {
      const open = Object.entries(properties as Record<string, Node>).filter(
        ([, { type, enum: choices }]) => type === 'object' || choices !== undefined,
      );
      return [name, ...open.map(([field]) => `${name}${field.replaceAll('_', '')}`)];
    });
    expect(names.filter((name) => name.length > 40)).toEqual([]);
  });

  it('contains only models that are used', () => {
    const used = new Set<string>();
    walk(document, '', ({ $ref }) => void (typeof $ref === 'string' && used.add($ref)));
    const all = (['schemas', 'headers'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    expect(all.filter((name) => !used.has(name))).toEqual([]);
    expect([...used].filter((name) => !all.includes(name))).toEqual([]);
  });

  it('contains no form for which client generators write code that does not compile', () => {
    const wrong: string[] = [];
    walk(document, '', (node, place) => {
      const fields = Object.keys((node['properties'] ?? {}) as Node).map((name) =>
        name.replaceAll('_', '').toLowerCase(),
      );
      const isWrong =
        Array.isArray(node['type']) ||
        typeof node['const'] === 'boolean' ||
        (!place.endsWith('/properties') && new Set(fields).size < fields.length) ||
        (node['type'] === 'integer' && Number(node['maximum'] ?? Infinity) >= 2 ** 31 && node['format'] !== 'int64');
      if (isWrong && node['enum'] === undefined) wrong.push(place);
    });
    expect(wrong).toEqual([]);
    expect(Object.keys(components).filter((name) => /^New[A-Z]/.test(name))).toEqual([]);
  });

  it('groups operations by tags with a description, and names operation ids in one style', () => {
    const tags = document['tags'] as { name: string; description: string }[];
    expect(tags.filter(({ name, description }) => !/^[a-z]+$/.test(name) || description.length < 10)).toEqual([]);
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => String(operationId)),
    );
    expect(ids.filter((id) => !/^[a-z][a-zA-Z]+$/.test(id))).toEqual([]);
  });
});

describe('enumeration parameters', () => {
  const find = (path: string, name: string) => {
    const { parameters } = documents
      .map(({ document }) => document.paths[path]?.['get'])
      .find((item) => item !== undefined) as unknown as {
      parameters: { name: string; style?: string; schema: Node }[];
    };
    return parameters.find((parameter) => parameter.name === name);
  };

  it('declares an enumeration for a parameter whose values the operation validates', () => {
    expect(find('/api/v1/people', 'sort')?.schema['enum']).toEqual(['name', 'latest', 'updated']);
    expect(find('/api/v1/holons/{holon_id}/memberships', 'follow_up')?.schema['enum']).toEqual([
      'overdue',
      'today',
      'future',
      'none',
    ]);
  });

  it('applies to each item of a comma-separated list', () => {
    const types = find('/api/v1/search', 'types');
    expect([types?.style, types?.schema['type'], types?.schema['items']]).toEqual([
      'form',
      'array',
      { type: 'string', enum: ['person', 'holon'], 'x-refused-with': 400 },
    ]);
  });
});
