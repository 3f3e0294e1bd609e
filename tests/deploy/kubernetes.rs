//! The Kubernetes manifests, as kubectl draws them: they fit Kubernetes' own schemas, their configuration is taken, their
//! probes succeed against the real binary.

use super::files::{check, put};
use super::{content, root};
use crate::support::{Client, Gate, Request, Setup, venv};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

const FOLDERS: [&str; 2] = ["deploy/kubernetes/base", "deploy/kubernetes/overlays/example"];

/// The objects of a folder; none where kubectl cannot be had.
fn objects(folder: &str) -> Option<Vec<Value>> {
    let bin = venv::programs("tests/deploy/requirements.txt")?;
    let drawn = Command::new(bin.join("kubectl")).arg("kustomize").arg(root(folder)).output().unwrap();
    content(&drawn);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("drawn.yaml");
    std::fs::write(&file, &drawn.stdout).unwrap();
    let judged = Command::new(bin.join("kubernetes-validate")).arg("--strict").arg(&file).output().unwrap();
    content(&judged);
    Some(serde_yaml::from_multiple(std::str::from_utf8(&drawn.stdout).unwrap()).unwrap())
}

#[track_caller]
fn of_kind<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let is = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
    objects.iter().find(is).unwrap_or_else(|| panic!("no {kind} {name}"))
}

fn container(objects: &[Value]) -> &Value {
    &of_kind(objects, "Deployment", "formgate")["spec"]["template"]["spec"]["containers"][0]
}

#[test]
fn names_lead_where_they_should() {
    for folder in FOLDERS {
        let Some(objects) = objects(folder) else { return };
        let deployment = of_kind(&objects, "Deployment", "formgate");
        let pod = &deployment["spec"]["template"];
        let labels = pod["metadata"]["labels"].as_object().unwrap();
        let selects = |selector: &Value| {
            let selector = selector.as_object().unwrap();
            assert!(
                !selector.is_empty() && selector.iter().all(|(name, value)| labels.get(name) == Some(value))
            );
        };
        selects(&deployment["spec"]["selector"]["matchLabels"]);
        selects(&of_kind(&objects, "PodDisruptionBudget", "formgate")["spec"]["selector"]["matchLabels"]);
        let containers = pod["spec"]["containers"].as_array().unwrap();
        let ports = containers.iter().flat_map(|container| container["ports"].as_array().unwrap());
        let ports: Vec<&Value> = ports.map(|port| &port["name"]).collect();
        for service in objects.iter().filter(|object| object["kind"] == "Service") {
            selects(&service["spec"]["selector"]);
            for port in service["spec"]["ports"].as_array().unwrap() {
                assert!(ports.contains(&&port["targetPort"]), "{port}");
            }
        }
        for monitor in objects.iter().filter(|object| object["kind"] == "ServiceMonitor") {
            let wanted = monitor["spec"]["selector"]["matchLabels"].as_object().unwrap();
            let service = of_kind(&objects, "Service", "formgate-metrics");
            assert!(wanted.iter().all(|(name, value)| service["metadata"]["labels"][name] == *value));
            assert_eq!(service["metadata"]["labels"]["app"], "formgate", "the job that alerts.yaml names");
            assert_eq!(monitor["spec"]["endpoints"][0]["port"], service["spec"]["ports"][0]["name"]);
        }
        let volumes = pod["spec"]["volumes"].as_array().unwrap();
        for volume in volumes.iter().filter(|volume| volume["configMap"].is_object()) {
            of_kind(&objects, "ConfigMap", volume["configMap"]["name"].as_str().unwrap());
        }
        for container in containers {
            let context = &container["securityContext"];
            assert_eq!(context["readOnlyRootFilesystem"], true);
            assert_eq!(context["allowPrivilegeEscalation"], false);
            assert_eq!(context["capabilities"]["drop"][0], "ALL");
            for mount in container["volumeMounts"].as_array().unwrap() {
                assert!(volumes.iter().any(|volume| volume["name"] == mount["name"]), "{mount}");
                assert!(mount["subPath"].is_null(), "an edit would never arrive: {mount}");
            }
        }
        assert_eq!(pod["spec"]["securityContext"]["runAsNonRoot"], true);
    }
}

/// Whatever is drawn is started, with its own configuration, and probed as the kubelet would.
#[test]
fn probes_succeed_against_the_real_binary() {
    for folder in FOLDERS {
        let Some(objects) = objects(folder) else { return };
        let files = of_kind(&objects, "ConfigMap", "formgate")["data"].as_object().unwrap();
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            put(dir.path(), name, text.as_str().unwrap());
        }
        check(dir.path());
        let config = files["gateway.yaml"].as_str().unwrap();
        let loaded = formgate::config::load(&dir.path().join("gateway.yaml")).unwrap();
        let port = loaded.settings.listen[0].address.port();
        let container = container(&objects);
        assert_eq!(container["ports"][0]["containerPort"], port, "{config}");
        let seconds = &of_kind(&objects, "Deployment", "formgate")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"];
        let room = Duration::from_secs(seconds.as_u64().unwrap());
        assert!(room > loaded.settings.grace + loaded.settings.leave + Duration::from_secs(5));
        assert!(loaded.settings.leave >= Duration::from_secs(2), "endpoints take a moment to forget a pod");

        let gate = started(files);
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            let probe = &container[probe];
            if let Some(path) = probe["httpGet"]["path"].as_str() {
                assert_eq!(probe["httpGet"]["port"], container["ports"][0]["name"]);
                let asked = Request::get(path).field("User-Agent", "kube-probe/1.37").field("Accept", "*/*");
                assert_eq!(gate.exchange(&asked).status, 200, "{probe}");
            } else {
                assert_eq!(probe["tcpSocket"]["port"], container["ports"][0]["name"], "{probe}");
                Client::connect(gate.addr);
            }
        }
    }
}

/// The binary on these files, on ports of this machine.
fn started(files: &serde_json::Map<String, Value>) -> Gate {
    let mut setup = Setup::towards("http://127.0.0.1:9");
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("api-token");
    std::fs::write(&secret, "s3cr3t\n").unwrap();
    for (name, text) in files {
        let text =
            text.as_str().unwrap().replace("/run/secrets/formgate/api-token", secret.to_str().unwrap());
        if name == "gateway.yaml" {
            setup.config = serde_yaml::from_str(&text).unwrap();
        } else {
            setup = setup.file(name, text);
        }
    }
    let setup = setup.with("listen", vec!["127.0.0.1:0"]).with("admin", "127.0.0.1:0").with("watch", "off");
    let setup = setup.with("upstreams/api/servers", vec!["http://127.0.0.1:9"]);
    Gate::start(&setup)
}

#[test]
fn hadolint_has_nothing_to_say_of_the_image() {
    let Some(bin) = venv::programs("tests/deploy/requirements.txt") else { return };
    content(&Command::new(bin.join("hadolint")).arg(root("deploy/Dockerfile")).output().unwrap());
}
