/** docs/guides/workspace-file.md: the lists and fields of the workspace file, from its schema. */
import { makeWorkspaceSchema, type Schema } from './workspace-schema.ts';
import { listTexts } from './workspace-texts.ts';

const introduction = `# The workspace file

Generated from the schema by \`npm run fix\`; edit tools/generate/workspace-texts.ts and the vocabulary instead of this page.

A workspace file in YAML or JSON sets up a workspace: people, holons, journeys, accounts and agents. It is applied completely or not at all, and can be applied repeatedly:

\`\`\`sh
npm run --silent cli -- workspace apply FILE --dry-run   # what would change
npm run --silent cli -- workspace apply FILE
\`\`\`

- Lists, items and fields that the file does not contain do not change. Nothing is deleted by omission.
- Items are identified by \`key\`, \`slug\` or \`email\` across files.
- Objects are merged by key; \`null\` removes a key. A list of names replaces the stored list, in this order.
- \`null\` clears a text, a list or an object; for other fields that allow it, it means *none*.
- \`{env: NAME}\` instead of a secret reads it from the environment of the command.
- All checks run first. Problems are reported with their lines, and then nothing is changed.

The [demo workspace](../../test/fixtures/demo-workspace.yaml) has examples of almost every field.

## In an editor

[workspace.schema.json](../workspace.schema.json) is the JSON Schema of the file. Editors with the YAML language server (VS Code with *YAML*, JetBrains, Neovim, Helix) complete and check fields
when the file begins with:

\`\`\`yaml
# yaml-language-server: $schema=docs/workspace.schema.json
\`\`\`

The schema checks the form of each item. \`--dry-run\` also checks references, password strength and addresses.
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
      '| field | type | meaning |',
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

function listRows(item: Described, path = ''): string[] {
  return Object.entries(item.properties ?? {}).flatMap(([name, field]) => {
    const needed = item.required?.includes(name) === true ? ' **required**' : '';
    const below = field.items?.properties === undefined ? field : field.items;
    const nested = listTextsKnow(below) ? listRows(below, `${path}${name}.`) : [];
    const meaning = (field.description ?? '').replaceAll('|', '\\|');
    return [`| \`${path}${name}\`${needed} | ${typeOf(field)} | ${meaning} |`, ...nested];
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
  const listed = types
    .filter((type) => type !== 'null')
    .map((type) => {
      if (type === 'array' && field.items?.type === 'string') return 'list of texts';
      if (type === 'object' && field.properties !== undefined && 'env' in field.properties) return '`{env: NAME}`';
      if (field.format === 'date') return 'date';
      if (field.format === 'date-time') return 'date and time';
      return names[type] ?? type;
    });
  return [...new Set(listed)].join(' or ') + (types.includes('null') ? ' or null' : '');
}
