/** Renders the visitor page of an agent in a language (rules/agents#embedded). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '#libs/infrastructure/json';
import { maxChatBodyCharacters } from '#services/agents';

const folder = join(import.meta.dirname, '..', 'chat-page');

export const languages = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof languages)[number];
type Words = Readonly<Record<string, string>>;

/** Returns the texts of each language, read from the language files. */
export function readLanguages(): Readonly<Record<Language, Words>> {
  const read = (language: Language): Words =>
    JSON.parse(readFileSync(join(folder, 'languages', `${language}.json`), 'utf8')) as Words;
  return { en: read('en'), de: read('de'), fr: read('fr'), es: read('es') };
}

/** Returns the requested language, else the preferred language of the browser, else English. */
export function chooseLanguage(requested: string | undefined, accepted: unknown): Language {
  const named = requested?.toLowerCase().split('-', 1)[0];
  return (
    languages.find((language) => language === named) ?? languages.find((language) => language === accepted) ?? 'en'
  );
}

/** Data of an agent that the page shows. */
export interface VisibleAgent {
  readonly name: string;
  /** Absolute URL, or a path on the platform. */
  readonly logo: string | undefined;
  readonly privacy: string | undefined;
}

const maxName = 100;
const maxUrl = 2_000;

/** Returns the valid values of `chat` in the agent's infos. */
export function readVisible(slug: string, infos: unknown): VisibleAgent {
  const {
    name,
    logo_url: logo,
    privacy_url: privacy,
  } = (isJsonObject(infos) && isJsonObject(infos['chat']) ? infos['chat'] : {}) as Record<string, unknown>;
  const given = typeof name === 'string' ? name.trim() : '';
  return {
    name: given === '' || given.length > maxName ? toTitle(slug) : given,
    logo: isUrl(logo, ['https:']) ? logo : undefined,
    privacy: isUrl(privacy, ['https:', 'http:']) ? privacy : undefined,
  };
}

function isUrl(value: unknown, schemes: readonly string[]): value is string {
  if (typeof value !== 'string' || value.length > maxUrl || /[\s\\]/.test(value)) return false;
  if (value.startsWith('/')) return !value.startsWith('//');
  return URL.canParse(value) && schemes.includes(new URL(value).protocol);
}

/** Returns the title for a slug: `welcome-guide` → `Welcome guide`. */
export function toTitle(slug: string): string {
  const words = slug.replaceAll(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function writePage(template: string, { name, logo, privacy }: VisibleAgent, words: Words): string {
  const initial = String.fromCodePoint(name.codePointAt(0) ?? 63);
  const mark =
    logo === undefined
      ? `<span class="mark" aria-hidden="true">${escapeHtml(initial)}</span>`
      : `<img class="mark" src="${escapeHtml(logo)}" alt="" />`;
  const privacyLink =
    privacy === undefined
      ? ''
      : `<a id="privacy" href="${escapeHtml(privacy)}" target="_blank" rel="noopener noreferrer">${escapeHtml(words['privacy'] ?? '')}</a>`;
  // Only `<` could end the script element, so only `<` is escaped.
  const strings = JSON.stringify(words).replaceAll('<', String.raw`\u003c`);
  const messageTo = (words['messageTo'] ?? '').replace('{name}', () => name);
  return fill(template, {
    ...words,
    title: name,
    mark,
    privacyLink,
    strings,
    messageTo,
    maxLength: String(maxChatBodyCharacters),
  });
}

/** Fills a template: `{{name}}` inserts text, `{{&name}}` inserts HTML. */
export function fill(template: string, values: Words): string {
  return template.replaceAll(/\{\{(&?)(\w+)\}\}/g, (_, raw: string, name: string) =>
    raw === '&' ? (values[name] ?? '') : escapeHtml(values[name] ?? ''),
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
