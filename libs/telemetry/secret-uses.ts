import type { Metrics } from './metrics.ts';

/**
 * Counts by which of its values a secret is used, the first being 0 here and 1 in the metric: a value that nobody uses any more can be taken
 * away (K8; docs/guides/secret-rotation.md).
 * @param values how many the secret has
 */
export function createSecretUseCounter(metrics: Metrics, secret: string, values: number): (index: number) => void {
  const uses = metrics.counter('secret_uses_total', 'Uses of a shared secret, by the place of the value in its list', [
    'secret',
    'position',
  ]);
  const labels = Array.from({ length: values }, (_value, index) => ({ secret, position: String(index + 1) }));
  for (const known of labels) uses.inc(known, 0);
  return (index) => {
    const known = labels[index];
    if (known !== undefined) uses.inc(known);
  };
}
