/** JSON Schema of the workspace file for editors, generated from the rules that validate the file. */
import {
  type Field,
  type FieldRule,
  type Fields,
  foreignLists,
  infoFieldTypes,
  listNames,
  vocabulary,
} from '../../services/directory/workspace/rules/vocabulary.ts';
import { AgentItem } from '../../services/agents/contract.ts';
import { listTexts } from './workspace-texts.ts';

export type Schema = Readonly<Record<string, unknown>>;

const slugPattern = '^(?!\\.+$)[A-Za-z0-9_~.-]{1,200}$';
const notBlank = { type: 'string', pattern: '\\S', maxLength: 500 };
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more });
const object = { type: 'object' };
const fromEnvironment: Schema = {
  type: 'object',
  properties: {
    env: { type: 'string', description: 'Name of a variable of the environment in which the file is applied.' },
  },
  required: ['env'],
  additionalProperties: false,
};

/** Returns the text of docs/workspace.schema.json. */
export function describeWorkspaceSchema(): string {
  return `${JSON.stringify(makeWorkspaceSchema(), null, 2)}\n`;
}

export function makeWorkspaceSchema(): Schema {
  const owned = listNames.map(
    (name) => [name, withNull(list(itemOf(vocabulary[name], name), { description: textOf(name).about }))] as const,
  );
  const foreign = Object.keys(foreignLists).map(
    (name) => [name, withNull(list(foreignItem(name), { description: textOf(name).about }))] as const,
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Coherence workspace file',
    type: ['object', 'null'],
    properties: Object.fromEntries([...owned, ...foreign]),
    additionalProperties: false,
  };
}

function foreignItem(name: string): Schema {
  const item = foreignItems[name];
  if (item === undefined) throw new Error(`tools/generate/workspace-schema.ts does not know the list ${name}`);
  return describe(item, name);
}

function textOf(name: string): (typeof listTexts)[string] {
  const text = listTexts[name];
  if (text === undefined) throw new Error(`tools/generate/workspace-texts.ts says nothing of ${name}`);
  return text;
}

/** @param location list and, for nested fields, the name of the parent field with a dot */
function itemOf(fields: Fields, name: string, location = ''): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([field, rule]) => [
        field,
        { ...schemaOf(rule, name, `${location}${field}.`), description: describeValue(name, location + field, rule) },
      ]),
    ),
    required: Object.entries(fields).flatMap(([field, { needed }]) => (needed === 'always' ? [field] : [])),
    additionalProperties: false,
  };
}

function describeValue(name: string, field: string, rule?: FieldRule): string {
  const text = textOf(name).fields[field];
  if (text === undefined) throw new Error(`tools/generate/workspace-texts.ts says nothing of ${name}.${field}`);
  return rule?.needed === 'create' ? `${text} Required for new items.` : text;
}

/**
 * Returns the schema of a field. null clears a text, list or object unless the field is required; for other types the
 * rule must define the meaning of null.
 */
function schemaOf(rule: FieldRule, name: string, location: string): Schema {
  const { kind } = rule.field;
  const schema =
    rule.field.kind === 'items' ? itemsOf(rule.field, name, location) : simple[kind as keyof typeof simple];
  const emptiable = ['array', 'object'].includes(String(schema['type'])) || kind === 'text' || kind === 'line';
  return rule.nullable === true || (emptiable && rule.needed !== 'always') ? withNull(schema) : schema;
}

/** Items; the text of a shorthand has the schema of its field. */
function itemsOf({ fields, shorthand }: Extract<Field, { kind: 'items' }>, name: string, location: string): Schema {
  const item = itemOf(fields, name, location);
  const rule = shorthand === undefined ? undefined : fields[shorthand];
  return list(rule === undefined ? item : { anyOf: [schemaOf(rule, name, location), item] });
}

const withNull = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'].flat() });
const channels = { type: 'object', propertyNames: { maxLength: 100 } };

const simple: Readonly<Record<Exclude<FieldRule['field']['kind'], 'items'>, Schema>> = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer', minimum: -2_147_483_647, maximum: 2_147_483_647 },
  object,
  class_config: {
    type: 'object',
    properties: {
      info_field_groups: {
        type: ['array', 'null'],
        items: {
          type: 'object',
          properties: {
            key: notBlank,
            label: { type: 'string' },
            fields: list({
              type: 'object',
              properties: {
                key: notBlank,
                label: { type: 'string' },
                type: { enum: infoFieldTypes },
                options: { type: ['array', 'null'], items: { type: ['string', 'object'] } },
              },
              required: ['key', 'type'],
            }),
          },
          required: ['key'],
        },
      },
    },
  },
  date: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', format: 'date' },
  texts: list({ type: 'string', pattern: '\\S' }, { uniqueItems: true }),
  references: list({ type: 'string', pattern: '\\S' }, { uniqueItems: true }),
  countries: list({ type: 'string', pattern: '^[A-Za-z]{2}$' }),
  secret: {
    type: ['string', 'object'],
    properties: fromEnvironment['properties'],
    required: ['env'],
    additionalProperties: false,
  },
  email: { type: 'string', pattern: '^\\S+@\\S+$', maxLength: 500 },
  text: { type: 'string' },
  line: { type: 'string', maxLength: 500 },
  slug: { type: 'string', pattern: slugPattern },
  step: { type: 'string', pattern: slugPattern },
  name: notBlank,
  question: notBlank,
  links: channels,
  contact: channels,
  journey_texts: channels,
  web_address: { type: 'string', maxLength: 2_000 },
  address: { type: 'string', maxLength: 2_000 },
  reference: notBlank,
};

const path = { type: ['string', 'null'], pattern: '\\S' };
const milliseconds = { type: 'number', minimum: 0, maximum: 1e12 };
const instant = { type: ['string', 'null'], format: 'date-time' };
const row: Schema = {
  type: 'object',
  properties: {
    start_ms: milliseconds,
    end_ms: milliseconds,
    person: path,
    speaker: { type: ['string', 'null'] },
    text: { type: 'string' },
  },
  required: ['start_ms', 'end_ms', 'text'],
  additionalProperties: false,
};
const keys = { type: ['array', 'null'], items: { type: 'string', pattern: '\\S' }, uniqueItems: true };

/** Items of lists that other services own. Conversations have the format of cli/bulk-import/check-item.ts. */
const foreignItems: Readonly<Record<string, Schema>> = {
  agents: AgentItem as unknown as Schema,
  conversations: {
    type: 'object',
    properties: {
      key: notBlank,
      journey: path,
      step: path,
      event: path,
      start: instant,
      finish: instant,
      participants: keys,
      connected: keys,
      infos: { type: ['object', 'null'] },
      config: { type: ['object', 'null'] },
      audio: path,
      recording: {
        type: ['object', 'null'],
        properties: { full: path, front_trimmed: path, finalized: { type: ['boolean', 'null'] } },
        additionalProperties: false,
      },
      transcript: { type: ['array', 'null'], items: row },
    },
    required: ['key'],
    additionalProperties: false,
  },
};

/** Adds to each field of the schema its description from the reference. */
function describe(schema: Schema, name: string, location = ''): Schema {
  const { properties, items, ...rest } = schema as { properties?: Record<string, Schema>; items?: Schema };
  return {
    ...rest,
    ...(items === undefined ? {} : { items: describe(items, name, location) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([field, value]) => [
              field,
              { ...describe(value, name, `${location}${field}.`), description: describeValue(name, location + field) },
            ]),
          ),
        }),
  };
}
