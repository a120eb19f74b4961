import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadGatewayConfig } from '../config.ts';
import { chooseLanguage, languages, readLanguages, readVisible, writePage } from './visitor-page.ts';

const words = readLanguages();
const template = readFileSync(join(import.meta.dirname, '..', 'chat-page', 'index.html'), 'utf8');
const placesIn = (text = ''): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).toSorted();

describe('the texts of the visitor page (rules/agents#embedded)', () => {
  it.each(languages)('contains every text in %s, with the same placeholders', (language) => {
    expect(Object.keys(words[language])).toEqual(Object.keys(words.en));
    for (const [key, text] of Object.entries(words[language])) {
      expect([key, text.trim()]).toEqual([key, expect.stringMatching(/\S/)]);
      expect([key, placesIn(text)]).toEqual([key, placesIn(words.en[key])]);
    }
  });

  it('contains exactly the texts that the page and its scripts use', () => {
    const scripts = ['page.js', 'chat-api.js', 'log-view.js'].map((file) =>
      readFileSync(join(import.meta.dirname, '..', 'chat-page', file), 'utf8'),
    );
    const asked = scripts.flatMap((script) => [...script.matchAll(/\btranslate\('(\w+)'/g)].map(([, key = '']) => key));
    const shown = [...template.matchAll(/\{\{(\w+)\}\}/g)].map(([, key = '']) => key);
    const given = ['language', 'title', 'assets', 'slug', 'maxLength'];
    const used = new Set([...asked, ...shown, 'privacy'].filter((key) => !given.includes(key)));
    expect([...used].toSorted()).toEqual(Object.keys(words.en).toSorted());
  });

  it.each([
    ['de', undefined, 'de'],
    ['DE-at', 'fr', 'de'],
    ['xx', 'fr', 'fr'],
    [undefined, 'es', 'es'],
    ['constructor', false, 'en'],
    ['', '', 'en'],
  ])('selects the requested language (%s), or a browser language (%s): %s', (asked, liked, language) => {
    expect(chooseLanguage(asked, liked)).toBe(language);
  });
});

describe('the display data of an agent (rules/agents#embedded)', () => {
  const shown = (chat: unknown) => readVisible('welcome-guide', { chat, prompt: 'secret' });

  it('reads the display data from the infos of the agent', () => {
    const chat = { name: ' Ask us ', logo_url: 'https://e.org/l.png', privacy_url: 'https://e.org/p' };
    expect(shown(chat)).toEqual({ name: 'Ask us', logo: 'https://e.org/l.png', privacy: 'https://e.org/p' });
    expect(shown({ logo_url: '/media/l.png', privacy_url: '/privacy' })).toMatchObject({
      logo: '/media/l.png',
      privacy: '/privacy',
    });
  });

  it('derives the display data from the slug when the infos are missing or invalid', () => {
    const plain = { name: 'Welcome guide', logo: undefined, privacy: undefined };
    for (const chat of [undefined, null, [], 'x', { name: '' }, { name: 7 }, { name: 'x'.repeat(101) }])
      expect(shown(chat)).toEqual(plain);
    const addresses = [
      'javascript:alert(1)',
      'data:image/svg+xml,x',
      '//e.org/x',
      '/\\e.org',
      'https://e.org/ x',
      'x',
      7,
      `https://e.org/${'x'.repeat(2_000)}`,
    ];
    for (const address of addresses) expect(shown({ logo_url: address, privacy_url: address })).toEqual(plain);
    expect(shown({ logo_url: 'http://e.org/l.png' })).toEqual(plain);
  });

  it('escapes markup in display data', () => {
    const name = `"><script>alert('$&')</script>`;
    const html = writePage(
      template,
      { name, logo: `https://e.org/"x'`, privacy: `https://e.org/"<b>` },
      { ...words.en, language: 'en', you: '</script><script>' },
    );
    expect(html).not.toMatch(/<script>alert|<\/script><script>|"x'|"<b>|\{\{/);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).toContain('Your message to &#34;&#62;&#60;script&#62;alert(&#39;$&#38;&#39;)');
  });
});

describe('CHAT_EMBED_ORIGINS', () => {
  const load = (origins: string) =>
    loadGatewayConfig({ NATS_URL: 'nats://x', API_TOKEN: 'x'.repeat(40), CHAT_EMBED_ORIGINS: origins });
  const problemOf = (origins: string): string => {
    try {
      load(origins);
      return '';
    } catch (error) {
      return String(error);
    }
  };

  it('accepts only origins, because the setting becomes part of a content security policy', () => {
    for (const good of ['', 'https://www.example.org', ' https://a.example.org  http://localhost:3000 '])
      expect(problemOf(good)).not.toContain('CHAT_EMBED_ORIGINS');
    for (const bad of [
      '*',
      'example.org',
      "https://e.org;script-src 'unsafe-inline'",
      'https://e.org/path',
      "'self'",
      'https://e.org,https://f.org',
      'https://*.e.org',
    ])
      expect([bad, problemOf(bad)]).toEqual([bad, expect.stringContaining('CHAT_EMBED_ORIGINS')]);
  });
});
