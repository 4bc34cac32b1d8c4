import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";

const prometheus = "github.com/prometheus-operator/prometheus-operator@v0.85.0";
const monitoring = "example/prometheus-operator-crd/monitoring.coreos.com";
/** What operators define of the objects that the chart makes, by the module that has it. */
export const customResources: readonly (readonly [module: string, path: string, version: string])[] = [
  [prometheus, `${monitoring}_servicemonitors.yaml`, "v1"],
  [prometheus, `${monitoring}_prometheusrules.yaml`, "v1"],
  ["github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases/keda.sh_scaledobjects.yaml", "v1alpha1"],
  ["sigs.k8s.io/gateway-api@v1.6.3", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml", "v1"],
];

/** Downloads a module of Go, and returns its folder. */
export function folderOf(module: string): string {
  const answer = execFileSync("go", ["mod", "download", "-json", module], { cwd: tmpdir(), encoding: "utf8" });
  return (JSON.parse(answer) as { Dir: string }).Dir;
}
