# APIs of plinth's own project. Those that bootstraps use are among them: calls are billed to, and counted in, this project.

locals {
  services = toset([
    "artifactregistry",
    "billingbudgets",
    "cloudbilling",
    "cloudbuild",
    "cloudfunctions",
    "cloudresourcemanager",
    "cloudscheduler",
    "compute",
    "dns",
    "eventarc",
    "firebaserules",
    "firestore",
    "iam",
    "iamcredentials",
    "logging",
    "monitoring",
    "publicca",
    "pubsub",
    "run",
    "secretmanager",
    "serviceusage",
    "storage",
  ])
}

resource "google_project_service" "api" {
  for_each = setunion(local.services, var.traces ? ["cloudtrace", "telemetry"] : [])

  project = var.project_id
  service = "${each.key}.googleapis.com"
  # Others in the project may use it, too.
  disable_on_destroy = false
}
