/** The server that MONGODB_URL names, or nothing. */
export function givenMongoDbUrl(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const url = env['MONGODB_URL'];
  return url === undefined || url === '' ? undefined : url;
}
