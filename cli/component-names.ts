/** Name of a service in the chart's values and in names of variables. */
export function componentOf(service: string): string {
  return service === 'api-gateway' ? 'gateway' : service;
}
