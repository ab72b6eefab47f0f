// What these modules are; their package describes only its entry points.

declare module "graphology-layout-forceatlas2/iterate.js" {
  const iterate: (settings: object, nodes: Float32Array, edges: Float32Array) => object;
  export default iterate;
}
declare module "graphology-layout-forceatlas2/helpers.js" {
  const helpers: {
    graphToByteArrays: (
      graph: unknown,
      weight: (edge: string, attributes: { weight: number }) => number,
    ) => { nodes: Float32Array; edges: Float32Array };
  };
  export default helpers;
}

/** Where the bundle of graph/layout-worker.ts is served; build.mjs puts it in. */
declare const LAYOUT_WORKER: string;
