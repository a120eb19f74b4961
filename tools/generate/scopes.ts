/** Derives the page of scopes from the route table (rules/access#scopes). */
import { type Route, scopes } from '#libs/contract';
import { routes } from '../../services/api-gateway/routes/index.ts';

/** Markdown: the operations of each scope, and those that need none. */
export function describeScopes(): string {
  const documented = routes.filter((route) => route.documented !== false);
  const listOf = (scope: Route['scope'], loginOnly?: true): string =>
    documented
      .filter((route) => route.scope === scope && route.loginOnly === loginOnly)
      .map(({ method, path, summary }) => `\`${method} ${path}\` (${summary})`)
      .join('<br>');
  const rows = scopes.map((scope) => [`\`${scope}\``, listOf(scope) || 'nothing in this release']);
  return [
    '# Scopes',
    '',
    'What a [service key](rules/access.md#service-keys) may do with each scope, written from the route table by `npm run fix`; change the routes, not this page.',
    '`*` is all of them. What a key may do is also what its account may do, and no more.',
    '',
    '| scope | operations |',
    '|---|---|',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    `| none is needed | ${listOf(null)} |`,
    `| none is enough: for logins alone | ${listOf(null, true)} |`,
    '',
  ].join('\n');
}
