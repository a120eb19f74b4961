/**
 * So many callers who each send their next request when the last one is answered, as the model of docs/scaling.md has them. Told by a file (CALLERS_FILE):
 * `{ "urls": [], "callers": 32, "seconds": 4, "requests": [{ "method", "path", "headers", "body" }] }`; caller n calls URL n modulo their number, and each
 * sends all of them in turn, begun at different places, so that each caller and each URL has the same mix of them.
 */
import http from 'k6/http';

const { urls, callers, seconds, requests } = JSON.parse(open(__ENV.CALLERS_FILE));

/** Has nothing in common with the number of requests. */
const apart = 7;

export const options = { scenarios: { callers: { executor: 'constant-vus', vus: callers, duration: `${seconds}s`, gracefulStop: '5s' } } };

export default function () {
  const { method, path, headers, body } = requests[(__ITER + apart * __VU) % requests.length];
  const { status } = http.request(method, urls[__VU % urls.length] + path, body, { headers, tags: { name: 'request' } });
  if (status < 200 || status >= 300) throw new Error(`answered ${status}`);
}

/** What was answered, and how long it took: a request that ends after the time counts, and so does the time until then. */
export const handleSummary = ({ metrics, state }) => ({
  stdout: JSON.stringify({
    requests: metrics.http_reqs.values.count,
    failed: metrics.http_req_failed.values.passes,
    seconds: state.testRunDurationMs / 1000,
  }),
});
