/** Generates the page of scopes from the route table (rules/access#scopes). */
import { type Route, scopes } from '#libs/infrastructure/contract';
import { routes } from '../../services/api-gateway/routes/index.ts';

/** Returns a Markdown page with the operations of each scope and the operations without a scope. */
export function describeScopes(): string {
  const documented = routes.filter((route) => route.documented !== false);
  const listOf = (scope: Route['scope'], loginOnly?: true): string =>
    documented
      .filter((route) => route.scope === scope && route.loginOnly === loginOnly)
      .map(({ method, path }) => `\`${method} ${path}\``)
      .join('<br>');
  const rows = scopes.map((scope) => [`\`${scope}\``, listOf(scope) || 'nothing in this release']);
  return [
    '# Scopes',
    '',
    'Operations of each scope of a [service key](rules/access.md#service-keys), generated from the route table by `npm run fix`. `*` includes all.',
    '',
    '| scope | operations |',
    '|---|---|',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    `| none required | ${listOf(null)} |`,
    `| logins only | ${listOf(null, true)} |`,
    '',
  ].join('\n');
}
