/**
 * `iso_utc(timestamptz)`: an instant as clients see it, made by SQL so that it never loses its microseconds
 * (rules/http#datetimes-out): `Z`, six digits of fraction exactly when the microseconds are not zero, years 0001 to 9999.
 *
 * Only immutable functions are used (`to_char` is not one), and the body is one expression, so that PostgreSQL inlines it into the
 * query that calls it.
 */
export function isoUtcSql(schema: string): string {
  const part = (field: string, digits: number): string =>
    `lpad((date_part('${field}', at at time zone 'UTC')::integer)::text, ${digits}, '0')`;
  const micros = `(date_part('microseconds', at at time zone 'UTC')::integer)`;
  return `create or replace function ${schema}.iso_utc(at timestamptz) returns text
    language sql immutable parallel safe
    return ${part('year', 4)} || '-' || ${part('month', 2)} || '-' || ${part('day', 2)}
      || 'T' || ${part('hour', 2)} || ':' || ${part('minute', 2)} || ':' || lpad((${micros} / 1000000)::text, 2, '0')
      || case when ${micros} % 1000000 = 0 then '' else '.' || lpad((${micros} % 1000000)::text, 6, '0') end
      || 'Z'`;
}
