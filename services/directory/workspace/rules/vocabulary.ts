/**
 * Defines all lists and fields of the workspace file that the directory owns, as data (rules/workspace#workspace-file).
 */
import { workspaceLists } from '../contract.ts';

export const listNames = workspaceLists;
export type ListName = (typeof listNames)[number];

/** Lists of the workspace file that other services apply. */
export const foreignLists: Readonly<Record<string, string>> = {
  agents: 'belongs to the agents service and is applied by the CLI',
  conversations: 'belongs to the conversations service and is applied by the CLI',
};

export type Field =
  | {
      kind: 'boolean' | 'integer' | 'object' | 'class_config' | 'date' | 'texts' | 'countries' | 'secret' | 'email';
    }
  /** Multi-line text. */
  | { kind: 'text' }
  /** Single-line text that can be empty. */
  | { kind: 'line' }
  /** URL-safe text. */
  | { kind: 'slug' }
  /** Single-line text that is not blank. */
  | { kind: 'name' }
  /** Multi-line text that is not blank. */
  | { kind: 'question' }
  /**
   * `links`: links by channel. `contact`: contact values, which are links if they have a scheme. `journey_texts`:
   * texts, of which `goodbyeURL` can be a link (D72).
   */
  | { kind: 'links' | 'contact' | 'journey_texts' }
  /** `web_address`: an http(s) URL. `address`: a path or a link. */
  | { kind: 'web_address' | 'address' }
  | { kind: 'reference' | 'references'; list: ListName }
  /** A step of the item's journey, by its slug. */
  | { kind: 'step' }
  /** `shorthand`: a text in place of an item is the value of this field. */
  | { kind: 'items'; fields: Fields; shorthand?: string };

export interface FieldRule {
  readonly field: Field;
  /** `always`: the field is required. `create`: it is required only for new items. */
  readonly needed?: 'always' | 'create';
  /**
   * Whether null is a stored value. Otherwise null empties text, lists and objects, and is an error for other types.
   */
  readonly nullable?: true;
}
export type Fields = Readonly<Record<string, FieldRule>>;

const text: FieldRule = { field: { kind: 'text' } };
const flag: FieldRule = { field: { kind: 'boolean' } };
const object: FieldRule = { field: { kind: 'object' } };
const slug: FieldRule = { field: { kind: 'slug' }, needed: 'always' };
const optionalKey: FieldRule = { field: { kind: 'name' } };
const neededName: FieldRule = { field: { kind: 'name' }, needed: 'create' };
const neededKey: FieldRule = { field: { kind: 'name' }, needed: 'always' };
const one = (list: ListName): FieldRule => ({ field: { kind: 'reference', list }, needed: 'always' });
const oneOrNone = (list: ListName): FieldRule => ({ field: { kind: 'reference', list }, nullable: true });
const many = (list: ListName): FieldRule => ({ field: { kind: 'references', list } });

const step: Fields = {
  slug,
  title: { field: { kind: 'name' } },
  goal: text,
  success_criteria: text,
  starter_message: text,
  is_archived: flag,
  pipeline_job: { field: { kind: 'name' }, nullable: true },
  config: object,
};

const workflow: Fields = {
  journey: oneOrNone('journeys'),
  step: { field: { kind: 'step' }, nullable: true },
  follow_up_after: { field: { kind: 'date' }, nullable: true },
  responsible: oneOrNone('people'),
};

export const vocabulary: Readonly<Record<ListName, Fields>> = {
  spheres: { key: neededKey, name: neededName, is_active: flag },
  classes: {
    slug,
    object_kind: { field: { kind: 'slug' } },
    parent: oneOrNone('classes'),
    label: { field: { kind: 'name' } },
    plural_label: { field: { kind: 'name' } },
    description: text,
    sort_order: { field: { kind: 'integer' } },
    is_system: flag,
    is_active: flag,
    icon_url: { field: { kind: 'address' }, nullable: true },
    conversation_event: flag,
    private: flag,
    name_read_only: flag,
    allowed_children: many('classes'),
    journeys: many('journeys'),
    config: { field: { kind: 'class_config' } },
  },
  journeys: {
    slug,
    name: neededName,
    description: text,
    svc_app: { field: { kind: 'line' } },
    object_kind: { field: { kind: 'slug' } },
    applies_to: oneOrNone('classes'),
    is_conversation: flag,
    public_visible: flag,
    bulk_add: flag,
    texts: { field: { kind: 'journey_texts' } },
    questions: {
      field: {
        kind: 'items',
        fields: { text: { field: { kind: 'question' }, needed: 'always' }, is_archived: flag },
        shorthand: 'text',
      },
    },
    steps: { field: { kind: 'items', fields: step } },
  },
  people: {
    key: neededKey,
    name: neededName,
    description: text,
    photo_url: { field: { kind: 'web_address' }, nullable: true },
    contact: { field: { kind: 'contact' } },
    actor_kind: { field: { kind: 'name' } },
    infos: object,
  },
  holons: {
    slug,
    name: neededName,
    description: text,
    class: { field: { kind: 'reference', list: 'classes' }, needed: 'create' },
    parent: oneOrNone('holons'),
    links: { field: { kind: 'links' } },
    locations: { field: { kind: 'countries' } },
    spheres: many('spheres'),
    infos: object,
    journeys: many('journeys'),
  },
  accounts: {
    email: { field: { kind: 'email' }, needed: 'always' },
    person: oneOrNone('people'),
    password: { field: { kind: 'secret' } },
    active: flag,
    superuser: flag,
    global_editor: flag,
    groups: { field: { kind: 'texts' } },
    teams: { field: { kind: 'items', fields: { holon: one('holons'), active: flag } } },
  },
  memberships: { key: optionalKey, person: one('people'), holon: one('holons'), ...workflow },
  relationships: { key: optionalKey, from: one('holons'), to: one('holons'), ...workflow },
};

/** Key field of each list. It is optional for memberships and relationships. */
export const keyFields: Readonly<Record<ListName, string>> = {
  spheres: 'key',
  classes: 'slug',
  journeys: 'slug',
  people: 'key',
  holons: 'slug',
  accounts: 'email',
  memberships: 'key',
  relationships: 'key',
};

/** Types of info fields (rules/workspace#info-fields). */
export const infoFieldTypes: readonly string[] = [
  'text',
  'long_text',
  'rich_text',
  'select',
  'multi_select',
  'number',
  'boolean',
  'date',
  'url',
  'video',
  'slideshow',
];
