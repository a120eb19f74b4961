/** docs/guides/workspace-file.md: the lists and fields of the workspace file, from its schema. */
import { makeWorkspaceSchema, type Schema } from './workspace-schema.ts';
import { listTexts } from './workspace-texts.ts';

const introduction = `# The workspace file

Written from the schema by \`npm run fix\`; change tools/generate/workspace-texts.ts and the vocabulary, not this page.

A workspace is set up by one file in YAML or JSON: people, holons, journeys, accounts and agents. It is applied whole or not at all, as often as you like:

\`\`\`sh
npm run --silent cli -- workspace apply FILE --dry-run   # what would change
npm run --silent cli -- workspace apply FILE
\`\`\`

- What the file does not name stays as it is: lists, items and fields. Nothing is deleted by leaving it away.
- An item is found again by its \`key\`, \`slug\` or \`email\`: the same one is the same item in every file.
- Objects are merged key by key, and \`null\` removes a key. Of a list of names, exactly these are kept, in this order.
- \`null\` empties a text, a list or an object; elsewhere, where it is allowed, it means *none*.
- \`{env: NAME}\` in the place of a secret takes it from the environment in which the file is applied.
- Everything is checked first. Every problem is told with its line, and then nothing is changed.

The [demo workspace](../../test/fixtures/demo-workspace.yaml) has an example of almost everything.

## In an editor

[workspace.schema.json](../workspace.schema.json) is the JSON Schema of the file. Editors with the YAML language server (VS Code with *YAML*, JetBrains, Neovim, Helix) complete names
and mark mistakes when the file begins with a line that leads to it:

\`\`\`yaml
# yaml-language-server: $schema=docs/workspace.schema.json
\`\`\`

It knows the form of each item. That names lead to items which exist, that passwords are not easy to guess and that addresses are ones, \`--dry-run\` tells.
`;

/** The page. */
export function describeWorkspaceReference(): string {
  const { properties } = makeWorkspaceSchema() as { properties: Record<string, { items: Schema; description: string }> };
  const lists = Object.entries(properties).map(([name, { items, description }]) =>
    [
      `## ${name}`,
      '',
      description,
      '',
      '```yaml',
      `${name}:`,
      ...(listTexts[name]?.example ?? '').split('\n').map((line) => `  ${line}`),
      '```',
      '',
      '| field | what it takes | meaning |',
      '|---|---|---|',
      ...listRows(items),
      '',
    ].join('\n'),
  );
  return `${introduction}\n${lists.join('\n')}`;
}

interface Described {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Described[];
  readonly pattern?: string;
  readonly format?: string;
  readonly description?: string;
}

function listRows(item: Described, place = ''): string[] {
  return Object.entries(item.properties ?? {}).flatMap(([name, field]) => {
    const needed = item.required?.includes(name) === true ? ' **needed**' : '';
    const below = field.items?.properties === undefined ? field : field.items;
    const nested = listTextsKnow(below) ? listRows(below, `${place}${name}.`) : [];
    const meaning = (field.description ?? '').replaceAll('|', '\\|');
    return [`| \`${place}${name}\`${needed} | ${typeOf(field)} | ${meaning} |`, ...nested];
  });
}

/** Fields that have a description of their own are told, those of free objects are not. */
const listTextsKnow = ({ properties = {} }: Described): boolean =>
  Object.values(properties).length > 0 &&
  Object.values(properties).every(({ description }) => description !== undefined) &&
  !('env' in properties);

const names: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'whole number',
  number: 'number',
  array: 'list',
  object: 'object',
};

function typeOf(field: Described): string {
  const types = field.anyOf === undefined ? [field.type ?? []].flat() : field.anyOf.flatMap(({ type }) => type ?? []);
  const shown = types
    .filter((type) => type !== 'null')
    .map((type) => {
      if (type === 'array' && field.items?.type === 'string') return 'list of texts';
      if (type === 'object' && field.properties !== undefined && 'env' in field.properties) return '`{env: NAME}`';
      if (field.format === 'date') return 'date';
      if (field.format === 'date-time') return 'date and time';
      return names[type] ?? type;
    });
  return [...new Set(shown)].join(' or ') + (types.includes('null') ? ' or null' : '');
}
