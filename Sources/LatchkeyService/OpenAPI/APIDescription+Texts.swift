// Written by Scripts/embed-openapi from openapi.json. Change that file.

extension APIDescription {
    static let textOfAllListeners = #"""
        {"openapi":"3.1.0",\#
        "info":{"title":"Latchkey",\#
        "version":"0.1.0",\#
        "summary":"A FairPlay Streaming licence server.",\#
        "description":"Every route of the public listeners and, where an admin listener gives this description, of a\#
        dmin listeners. A method that is not listed for a path is refused with 405 and `Allow`, an unknown method wi\#
        th 501. HEAD is answered as GET, without a body. Refusals are `application/problem+json` unless a path say\#
        s otherwise; `x-error-codes` lists the codes of an operation, beside those of HTTP itself, which the root'\#
        s `x-error-codes-of-http` lists for all of them. With `entitlement.dashIFStatus` the refusals of tokens tha\#
        t prove too little have the status 403 in place of 401. Paths with `x-listeners` `public` are for strangers\#
        ; those with `admin` alone are for operators.",\#
        "license":{"name":"Apache-2.0",\#
        "identifier":"Apache-2.0"}},\#
        "jsonSchemaDialect":"https://spec.openapis.org/oas/3.1/dialect/base",\#
        "x-error-codes-of-http":["overloaded",\#
        "bad_request",\#
        "request_timeout",\#
        "body_too_large",\#
        "uri_too_long",\#
        "head_too_large",\#
        "expectation_failed",\#
        "not_implemented",\#
        "version_not_supported",\#
        "internal"],\#
        "servers":[{"url":"/",\#
        "description":"The listener that gives this description."}],\#
        "tags":[{"name":"licences",\#
        "description":"Licences, renewals, sync reports, and what is known of them."},\#
        {"name":"certificates",\#
        "description":"Application certificates, for everyone."},\#
        {"name":"health",\#
        "description":"For load balancers."},\#
        {"name":"description",\#
        "description":"This description."},\#
        {"name":"cross-origin",\#
        "description":"What browsers ask for pages of other origins."},\#
        {"name":"expressplay",\#
        "description":"Token URLs for customers, in ExpressPlay's manner."},\#
        {"name":"packagers",\#
        "description":"Keys for packagers, over TLS, from the same machine, or behind a trusted proxy alone."},\#
        {"name":"administration",\#
        "description":"Admin listeners, with a credential that has a role for it."}],\#
        "paths":{"/fps/license":{"x-listeners":["public"],\#
        "post":{"operationId":"requestLicence","tags":["licences"],"summary":"A licence, a renewal, an offline licen\#
        ce, a sync report or a report of ended sessions","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMe\#
        ssage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]\#
        },{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/paramete\#
        rs/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#\#
        /components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/\#
        ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref\#
        ":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref":"#/components/pa\#
        rameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref":"#/components/re\#
        questBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/c\#
        omponents/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/component\#
        s/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/respon\#
        ses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Pro\#
        blem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem41\#
        7"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431\#
        ":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$re\#
        f":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/c\#
        omponents/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","sp\#
        c_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_rep\#
        layed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_si\#
        gnature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_\#
        used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offli\#
        ne_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","sess\#
        ion_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entit\#
        lement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module\#
        _unavailable"]},\#
        "options":{"operationId":"preflightLicence","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/co\#
        mponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/componen\#
        ts/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/P\#
        roblem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/license/{kid}":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/PathKeyId"}],\#
        "post":{"operationId":"requestLicenceByKey","tags":["licences"],"summary":"A licence, a renewal, an offlin\#
        e licence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the configu\#
        ration this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizatio\#
        ns":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"ex\#
        pressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/c\#
        omponents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Pre\#
        vious"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/comp\#
        onents/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameter\#
        s/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref\#
        ":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref\#
        ":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},\#
        "400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"\#
        $ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/compon\#
        ents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/r\#
        esponses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/response\#
        s/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Playe\#
        r500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},\#
        "505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_i\#
        s_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_\#
        rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_\#
        revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","tok\#
        en_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","conten\#
        t_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concur\#
        rency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlem\#
        ent_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_\#
        untrusted","module_unavailable","not_found"]},\#
        "options":{"operationId":"preflightLicenceByKey","tags":["cross-origin"],"summary":"What a browser asks befo\#
        re it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"\#
        $ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/\#
        responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respons\#
        es/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/v1/license":{"x-listeners":["public"],\#
        "post":{"operationId":"requestLicenceV1","tags":["licences"],"summary":"A licence, a renewal, an offline lic\#
        ence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the configuratio\#
        n this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[\#
        ]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"express\#
        PlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/compon\#
        ents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous\#
        "},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/component\#
        s/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/Vid\#
        eoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref":"#/\#
        components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref":"#/\#
        components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400"\#
        :{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref"\#
        :"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/comp\#
        onents/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/\#
        responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respon\#
        ses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Pla\#
        yer429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"\#
        },"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505"\#
        :{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_cer\#
        tificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejec\#
        ted","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revok\#
        ed","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_sc\#
        hema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mis\#
        match","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency\#
        _limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_d\#
        enied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untru\#
        sted","module_unavailable","not_found"]},\#
        "options":{"operationId":"preflightLicenceV1","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#\#
        /components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compo\#
        nents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/r\#
        esponses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/v1/license/{kid}":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/PathKeyId"}],\#
        "post":{"operationId":"requestLicenceByKeyV1","tags":["licences"],"summary":"A licence, a renewal, an offlin\#
        e licence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the configu\#
        ration this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizatio\#
        ns":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"ex\#
        pressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/c\#
        omponents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Pre\#
        vious"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/comp\#
        onents/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameter\#
        s/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref\#
        ":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref\#
        ":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},\#
        "400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"\#
        $ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/compon\#
        ents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/r\#
        esponses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/response\#
        s/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Playe\#
        r500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},\#
        "505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_i\#
        s_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_\#
        rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_\#
        revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","tok\#
        en_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","conten\#
        t_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concur\#
        rency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlem\#
        ent_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_\#
        untrusted","module_unavailable","not_found"]},\#
        "options":{"operationId":"preflightLicenceByKeyV1","tags":["cross-origin"],"summary":"What a browser asks be\#
        fore it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":\#
        {"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref"\#
        :"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/co\#
        mponents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/component\#
        s/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/{prefix}/contentlicenseservice/v1/licenses":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/Prefix"}],\#
        "post":{"operationId":"requestLicenceNAGRA","tags":["licences"],"summary":"A licence, a renewal, an offlin\#
        e licence, a sync report or a report of ended sessions","description":"Licences as `CkcMessage` and refusal\#
        s with `errorCode`, in NAGRA's manner. Without `licensePaths` in the configuration this path is served; wit\#
        h it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"\#
        axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuer\#
        y":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offline"},\#
        {"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/components/p\#
        arameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/ContentIdHint\#
        "},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/componen\#
        ts/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref":"#/components/parameters/Trac\#
        eParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref":"#/components/requestBodies/L\#
        icenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/components/res\#
        ponses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/responses/P\#
        layer403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem40\#
        8"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Problem413"},"41\#
        4":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$\#
        ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/\#
        components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/compone\#
        nts/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/res\#
        ponses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base\#
        64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","token\#
        _missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","tok\#
        en_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_used","token_\#
        revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowe\#
        d","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired",\#
        "session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavai\#
        lable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable"\#
        ,"not_found"]},\#
        "options":{"operationId":"preflightLicenceNAGRA","tags":["cross-origin"],"summary":"What a browser asks befo\#
        re it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"\#
        $ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/\#
        responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respons\#
        es/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/hms/fp/rights/":{"x-listeners":["public"],\#
        "post":{"operationId":"redeemExpressPlayToken","tags":["licences"],"summary":"A licence, a renewal, an offli\#
        ne licence, a sync report or a report of ended sessions","description":"The same as `/fps/license`, with ref\#
        usals in ExpressPlay's manner. `expressPlay.redeemPaths` may name other paths in its place.","security":[{"t\#
        oken":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"\#
        expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],\#
        "parameters":[{"$ref":"#/components/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#\#
        /components/parameters/Previous"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters\#
        /AssetId"},{"$ref":"#/components/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$re\#
        f":"#/components/parameters/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/para\#
        meters/RenewField"},{"$ref":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceSta\#
        te"}],"requestBody":{"$ref":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/compo\#
        nents/responses/Licence"},"400":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components\#
        /responses/ExpressPlay401"},"403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/componen\#
        ts/responses/ExpressPlay404"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components\#
        /responses/ExpressPlay409"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/componen\#
        ts/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/res\#
        ponses/ExpressPlay422"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/r\#
        esponses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/res\#
        ponses/Problem501"},"503":{"$ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/respo\#
        nses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64\#
        ","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","token_m\#
        issing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token\#
        _expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_used","token_re\#
        voked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed"\#
        ,"right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","s\#
        ession_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavaila\#
        ble","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable","\#
        not_found"]},\#
        "options":{"operationId":"preflightRedeem","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":\#
        "#/components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#\#
        /components/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/c\#
        omponents/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/com\#
        ponents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/certificate":{"x-listeners":["public"],\#
        "get":{"operationId":"getCertificate","tags":["certificates"],"summary":"The application certificate","descr\#
        iption":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by its 2048-\#
        bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameters/Crede\#
        ntial"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref"\#
        :"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"3\#
        04":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400\#
        "},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413\#
        ":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$r\#
        ef":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/\#
        components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/compone\#
        nts/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]\#
        },\#
        "head":{"operationId":"headGetCertificate","tags":["certificates"],"summary":"The fields of the answer to GE\#
        T","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameter\#
        s/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}\#
        ],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses/Cer\#
        tificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/response\#
        s/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Probl\#
        em413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"\#
        },"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500"\#
        :{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref\#
        ":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightGetCertificate","tags":["cross-origin"],"summary":"What a browser asks be\#
        fore it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":\#
        {"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref"\#
        :"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/co\#
        mponents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/component\#
        s/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/v1/certificate":{"x-listeners":["public"],\#
        "get":{"operationId":"getCertificateV1","tags":["certificates"],"summary":"The application certificate","des\#
        cription":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by its 204\#
        8-bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameters/Cre\#
        dential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$re\#
        f":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},\#
        "304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player4\#
        00"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"4\#
        13":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"\#
        $ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"\#
        #/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/compo\#
        nents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found\#
        "]},\#
        "head":{"operationId":"headGetCertificateV1","tags":["certificates"],"summary":"The fields of the answer t\#
        o GET","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/param\#
        eters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMat\#
        ch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses\#
        /CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/resp\#
        onses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/P\#
        roblem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem\#
        417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"\#
        500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"\#
        $ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightGetCertificateV1","tags":["cross-origin"],"summary":"What a browser ask\#
        s before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"4\#
        00":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$\#
        ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"\#
        #/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/compo\#
        nents/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/r\#
        esponses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/{prefix}/contentlicenseservice/v1/certificates":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/Prefix"}],\#
        "get":{"operationId":"getCertificateNAGRA","tags":["certificates"],"summary":"The application certificate","\#
        description":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by it\#
        s 2048-bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameter\#
        s/Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},\#
        {"$ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certifica\#
        te"},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Pl\#
        ayer400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408\#
        "},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"41\#
        7":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$r\#
        ef":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_\#
        found"]},\#
        "head":{"operationId":"headGetCertificateNAGRA","tags":["certificates"],"summary":"The fields of the answe\#
        r to GET","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/pa\#
        rameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNone\#
        Match"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/respon\#
        ses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/r\#
        esponses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/response\#
        s/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Prob\#
        lem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"\#
        },"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505"\#
        :{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightGetCertificateNAGRA","tags":["cross-origin"],"summary":"What a browser as\#
        ks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"\#
        400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"\#
        $ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":\#
        "#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/comp\#
        onents/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/\#
        responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/licenses/query":{"x-listeners":["public"],\#
        "post":{"operationId":"queryLicences","tags":["licences"],"summary":"Until when licences are good, and whe\#
        n to renew them","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"\#
        drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQ\#
        uery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/TraceParent"},{"$ref":"#/comp\#
        onents/parameters/TraceState"}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$re\#
        f":"#/components/schemas/LicenceQuery"}}}},"responses":{"200":{"description":"The state of each licence, a\#
        s far as it was given to this subject.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},\#
        "Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref\#
        ":"#/components/schemas/LicenceStates"}}}},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"\#
        #/components/responses/Player401"},"403":{"$ref":"#/components/responses/Player403"},"408":{"$ref":"#/compon\#
        ents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/r\#
        esponses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respons\#
        es/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Play\#
        er500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"}\#
        ,"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","toke\#
        n_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","to\#
        ken_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_revoked","su\#
        bject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","session_expired","session_kill\#
        ed","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavailable","storage_unavailable",\#
        "clock_untrusted"]},\#
        "options":{"operationId":"preflightQuery","tags":["cross-origin"],"summary":"What a browser asks before it s\#
        ends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"\#
        #/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/compo\#
        nents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/\#
        responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/respons\#
        es/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Prob\#
        lem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/challenge":{"x-listeners":["public"],\#
        "post":{"operationId":"issueChallenge","tags":["licences"],"summary":"A number for the next sync report","se\#
        curity":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmC\#
        loud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmToken\#
        Query":[]}],"parameters":[{"$ref":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/Tr\#
        aceState"}],"responses":{"200":{"description":"A challenge, which is accepted once.","headers":{"X-Request-I\#
        d":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"\#
        content":{"application/json":{"schema":{"$ref":"#/components/schemas/Challenge"}}}},"400":{"$ref":"#/compone\#
        nts/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/resp\#
        onses/Player403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/P\#
        roblem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem\#
        417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"\#
        500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"\#
        $ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes\#
        ":["token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signat\#
        ure","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_revo\#
        ked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","session_expired","sess\#
        ion_killed","rate_limited","entitlement_denied","entitlement_unavailable","storage_unavailable","clock_untru\#
        sted"]},\#
        "options":{"operationId":"preflightChallenge","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#\#
        /components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compo\#
        nents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/r\#
        esponses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/livez":{"x-listeners":["public","admin"],\#
        "get":{"operationId":"getLiveness","tags":["health"],"summary":"Whether the daemon lives","security":[],"res\#
        ponses":{"200":{"description":"It lives.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"\#
        },"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"sch\#
        ema":{"type":"string","pattern":"^ok\\n$"}}}},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$re\#
        f":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/\#
        components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/compon\#
        ents/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/r\#
        esponses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/respons\#
        es/Problem505"}}},\#
        "head":{"operationId":"headGetLiveness","tags":["health"],"summary":"The fields of the answer to GET","secur\#
        ity":[],"responses":{"200":{"description":"It lives.","headers":{"X-Request-Id":{"$ref":"#/components/header\#
        s/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=\#
        utf-8":{"schema":{"type":"string","pattern":"^ok\\n$"}}}},"400":{"$ref":"#/components/responses/Problem400"}\#
        ,"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414"\#
        :{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$re\#
        f":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/\#
        components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}}},\#
        "options":{"operationId":"preflightLiveness","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/c\#
        omponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compone\#
        nts/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/re\#
        sponses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/readyz":{"x-listeners":["public","admin"],\#
        "get":{"operationId":"getReadiness","tags":["health"],"summary":"Whether the daemon wants requests","securit\#
        y":[],"responses":{"200":{"description":"It does. Admin listeners name what is degraded in a second line.","\#
        headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/hea\#
        ders/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ready\\n"\#
        }}}},"503":{"description":"It stops, or it can issue no licence at all.","headers":{"X-Request-Id":{"$ref":"\#
        #/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"t\#
        ext/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^not ready\\n"}}}},"400":{"$ref":"#/componen\#
        ts/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/res\#
        ponses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses\#
        /Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Probl\#
        em431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"\#
        },"505":{"$ref":"#/components/responses/Problem505"}}},\#
        "head":{"operationId":"headGetReadiness","tags":["health"],"summary":"The fields of the answer to GET","secu\#
        rity":[],"responses":{"200":{"description":"It does. Admin listeners name what is degraded in a second line.\#
        ","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/\#
        headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ready\\#
        \n"}}}},"503":{"description":"It stops, or it can issue no licence at all.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":\#
        {"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^not ready\\n"}}}},"400":{"$ref":"#/compo\#
        nents/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/\#
        responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respon\#
        ses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Pr\#
        oblem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem5\#
        01"},"505":{"$ref":"#/components/responses/Problem505"}}},\#
        "options":{"operationId":"preflightReadiness","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/openapi.json":{"x-listeners":["public","admin"],\#
        "get":{"operationId":"getDescription","tags":["description"],"summary":"This description","description":"O\#
        n admin listeners with any credential of the listener.","security":[{},{"adminToken":[]}],"responses":{"200"\#
        :{"description":"OpenAPI 3.1. The public listener describes its own routes alone; an admin listener describe\#
        s those of both.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref\#
        ":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"type":"object","required":\#
        ["openapi","info","paths"],"properties":{"openapi":{"type":"string"}}}}}},"400":{"$ref":"#/components/respon\#
        ses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Pr\#
        oblem403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem4\#
        13"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"\#
        429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{\#
        "$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_origin_refused","rate_l\#
        imited"]},\#
        "head":{"operationId":"headGetDescription","tags":["description"],"summary":"The fields of the answer to GET\#
        ","security":[{},{"adminToken":[]}],"responses":{"200":{"description":"OpenAPI 3.1. The public listener desc\#
        ribes its own routes alone; an admin listener describes those of both.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"ap\#
        plication/json":{"schema":{"type":"object","required":["openapi","info","paths"],"properties":{"openapi":{"t\#
        ype":"string"}}}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses\#
        /Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/components/responses/Probl\#
        em408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"\#
        },"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431\#
        ":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$r\#
        ef":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes"\#
        :["admin_token_invalid","admin_origin_refused","rate_limited"]},\#
        "options":{"operationId":"preflightDescription","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/hms/fp/token":{"x-listeners":["public"],\#
        "get":{"operationId":"makeToken","tags":["expressplay"],"summary":"A token URL, by GET","description":"404 u\#
        nless `expressPlay.customers` lists customers.","security":[{"customerAuthenticator":[]}],"parameters":[{"$r\#
        ef":"#/components/parameters/FormErrorFormat"},{"$ref":"#/components/parameters/FormGeneralFlags"},{"$ref":"\#
        #/components/parameters/FormContentKey"},{"$ref":"#/components/parameters/FormKek"},{"$ref":"#/components/pa\#
        rameters/FormEk"},{"$ref":"#/components/parameters/FormKid"},{"$ref":"#/components/parameters/FormIv"},{"$re\#
        f":"#/components/parameters/FormRentalDuration"},{"$ref":"#/components/parameters/FormFpExtension"},{"$ref":\#
        "#/components/parameters/FormExpirationTime"},{"$ref":"#/components/parameters/FormCookie"},{"$ref":"#/compo\#
        nents/parameters/FormLatchkeylease"},{"$ref":"#/components/parameters/FormLatchkeydevice"},{"$ref":"#/compon\#
        ents/parameters/FormLatchkeybind"},{"$ref":"#/components/parameters/FormLatchkeyuses"},{"$ref":"#/components\#
        /parameters/FormLatchkeyhdcp"},{"$ref":"#/components/parameters/FormRightsType"},{"$ref":"#/components/param\#
        eters/FormRentalperiodEndTime"},{"$ref":"#/components/parameters/FormRentalplayDuration"},{"$ref":"#/compone\#
        nts/parameters/FormAnalogVideoOPL"},{"$ref":"#/components/parameters/FormCompressedDigitalAudioOPL"},{"$ref"\#
        :"#/components/parameters/FormCompressedDigitalVideoOPL"},{"$ref":"#/components/parameters/FormUncompressedD\#
        igitalAudioOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalVideoOPL"},{"$ref":"#/components/pa\#
        rameters/FormPrFlag"},{"$ref":"#/components/parameters/FormUseHttps"}],"responses":{"200":{"description":"On\#
        e URL with the token, for the app.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cac\#
        he-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/uri-list":{"schema":{"type":"stri\#
        ng","format":"uri"}}}},"400":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components/re\#
        sponses/ExpressPlay401"},"403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/components/\#
        responses/ExpressPlay404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/re\#
        sponses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/resp\#
        onses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/respon\#
        ses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"503":{"$ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/responses/\#
        Problem505"}},"x-error-codes":["not_found"]},\#
        "post":{"operationId":"makeTokenByForm","tags":["expressplay"],"summary":"A token URL, by a form","descripti\#
        on":"The authenticator is a member of the form, or a parameter of the query.","security":[{},{"customerAuthe\#
        nticator":[]}],"parameters":[{"$ref":"#/components/parameters/FormErrorFormat"},{"$ref":"#/components/parame\#
        ters/FormGeneralFlags"},{"$ref":"#/components/parameters/FormContentKey"},{"$ref":"#/components/parameters/F\#
        ormKek"},{"$ref":"#/components/parameters/FormEk"},{"$ref":"#/components/parameters/FormKid"},{"$ref":"#/com\#
        ponents/parameters/FormIv"},{"$ref":"#/components/parameters/FormRentalDuration"},{"$ref":"#/components/para\#
        meters/FormFpExtension"},{"$ref":"#/components/parameters/FormExpirationTime"},{"$ref":"#/components/paramet\#
        ers/FormCookie"},{"$ref":"#/components/parameters/FormLatchkeylease"},{"$ref":"#/components/parameters/FormL\#
        atchkeydevice"},{"$ref":"#/components/parameters/FormLatchkeybind"},{"$ref":"#/components/parameters/FormLat\#
        chkeyuses"},{"$ref":"#/components/parameters/FormLatchkeyhdcp"},{"$ref":"#/components/parameters/FormRightsT\#
        ype"},{"$ref":"#/components/parameters/FormRentalperiodEndTime"},{"$ref":"#/components/parameters/FormRental\#
        playDuration"},{"$ref":"#/components/parameters/FormAnalogVideoOPL"},{"$ref":"#/components/parameters/FormCo\#
        mpressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormCompressedDigitalVideoOPL"},{"$ref":"#/compon\#
        ents/parameters/FormUncompressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalVi\#
        deoOPL"},{"$ref":"#/components/parameters/FormPrFlag"},{"$ref":"#/components/parameters/FormUseHttps"}],"req\#
        uestBody":{"required":false,"content":{"application/x-www-form-urlencoded":{"schema":{"$ref":"#/components/s\#
        chemas/TokenForm"}}}},"responses":{"200":{"description":"One URL with the token, for the app.","headers":{"X\#
        -Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheCo\#
        ntrol"}},"content":{"text/uri-list":{"schema":{"type":"string","format":"uri"}}}},"400":{"$ref":"#/component\#
        s/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay401"},"403":{"$ref":"#/compone\#
        nts/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPlay404"},"408":{"$ref":"#/compo\#
        nents/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/compone\#
        nts/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/re\#
        sponses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/resp\#
        onses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/respon\#
        ses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightToken","tags":["cross-origin"],"summary":"What a browser asks before it s\#
        ends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"\#
        #/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/\#
        components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/co\#
        mponents/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/comp\#
        onents/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/compon\#
        ents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/sees/SEESServlet":{"x-listeners":["public"],\#
        "post":{"operationId":"askEntitlementServer","tags":["expressplay"],"summary":"A token URL by content, for b\#
        ack ends","description":"404 unless `expressPlay.sees` is configured.","security":[{"entitlementServer":[]},\#
        {"entitlementServerCertificate":[]}],"requestBody":{"required":true,"content":{"application/json":{"schema":\#
        {"$ref":"#/components/schemas/SEESQuestion"}}}},"responses":{"200":{"description":"A token URL, or why ther\#
        e is none.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/c\#
        omponents/headers/CacheControl"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"400":{"$ref":"#/components/responses/S\#
        EES400"},"401":{"$ref":"#/components/responses/SEES401"},"403":{"$ref":"#/components/responses/SEES403"},"40\#
        4":{"$ref":"#/components/responses/SEES404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref\#
        ":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/c\#
        omponents/responses/Problem417"},"429":{"$ref":"#/components/responses/SEES429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/SEES500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"503":{"$ref":"#/components/responses/SEES503"},"505":{"$ref":"#/components/responses/Problem\#
        505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightEntitlementServer","tags":["cross-origin"],"summary":"What a browser ask\#
        s before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"4\#
        00":{"$ref":"#/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413\#
        ":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":\#
        {"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"\#
        $ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$r\#
        ef":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/speke":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeys","tags":["packagers"],"summary":"Keys by SPEKE, of the version that th\#
        e field names","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertifica\#
        te":[]}],"parameters":[{"$ref":"#/components/parameters/SPEKEVersion"}],"requestBody":{"required":true,"cont\#
        ent":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:c\#
        pix=\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/compon\#
        ents/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref"\#
        :"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/compon\#
        ents/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/res\#
        ponses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Pro\#
        blem414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"\#
        },"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"\#
        $ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#\#
        /components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/compone\#
        nts/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_\#
        type_unsupported","key_lost","rate_limited","storage_unavailable"]}},\#
        "/speke/v1.0/copyProtection":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeysV1","tags":["packagers"],"summary":"Keys by SPEKE v1","security":[{"packa\#
        gerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody":{"required"\#
        :true,"content":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:C\#
        PIX xmlns:cpix=\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref\#
        ":"#/components/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"4\#
        00":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref\#
        ":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/com\#
        ponents/responses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/re\#
        sponses/Problem414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/\#
        Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429\#
        "},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501"\#
        :{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_reject\#
        ed","media_type_unsupported","key_lost","rate_limited","storage_unavailable"]}},\#
        "/speke/v2.0/copyProtection":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeysV20","tags":["packagers"],"summary":"Keys by SPEKE v2.0","security":[{"pa\#
        ckagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":\#
        "#/components/parameters/SPEKEVersion20"}],"requestBody":{"required":true,"content":{"application/xml":{"sch\#
        ema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" c\#
        ontentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}\#
        },"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/responses/SPEK\#
        E400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"413":{"$re\#
        f":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/co\#
        mponents/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components\#
        /responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses\#
        /Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem\#
        501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"\#
        x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","key_lost",\#
        "rate_limited","storage_unavailable"]}},\#
        "/speke/v2.1/copyProtection":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeysV21","tags":["packagers"],"summary":"Keys by SPEKE v2.1","security":[{"pa\#
        ckagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":\#
        "#/components/parameters/SPEKEVersion21"}],"requestBody":{"required":true,"content":{"application/xml":{"sch\#
        ema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" c\#
        ontentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}\#
        },"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/responses/SPEK\#
        E400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"413":{"$re\#
        f":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/co\#
        mponents/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components\#
        /responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses\#
        /Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem\#
        501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"\#
        x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","key_lost",\#
        "rate_limited","storage_unavailable"]}},\#
        "/speke/v1.0/heartbeat":{"x-listeners":["public"],\#
        "get":{"operationId":"getHeartbeat","tags":["packagers"],"summary":"Whether SPEKE is served","security":[{"p\#
        ackagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"responses":{"200":{"\#
        description":"It is.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"\#
        $ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"const":"Latch\#
        key serves SPEKE\n"}}}},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/respons\#
        es/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem\#
        408"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"4\#
        17":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$r\#
        ef":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/c\#
        omponents/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/component\#
        s/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["packager_invali\#
        d","packager_forbidden","cpix_rejected","rate_limited","storage_unavailable"]},\#
        "head":{"operationId":"headGetHeartbeat","tags":["packagers"],"summary":"The fields of the answer to GET","s\#
        ecurity":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"respons\#
        es":{"200":{"description":"It is.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cach\#
        e-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"\#
        const":"Latchkey serves SPEKE\n"}}}},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/compo\#
        nents/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/resp\#
        onses/Problem408"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Pr\#
        oblem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422\#
        "},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500"\#
        :{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref"\#
        :"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["pa\#
        ckager_invalid","packager_forbidden","cpix_rejected","rate_limited","storage_unavailable"]}},\#
        "/v1/keys":{"x-listeners":["public"],\#
        "post":{"operationId":"orderKeys","tags":["packagers"],"summary":"Keys of a content, made or found","securit\#
        y":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody":\#
        {"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/KeyOrder"}}}},"respon\#
        ses":{"200":{"description":"The keys, in the order of the tracks.","headers":{"X-Request-Id":{"$ref":"#/comp\#
        onents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applica\#
        tion/json":{"schema":{"$ref":"#/components/schemas/DeliveredKeys"}}}},"400":{"$ref":"#/components/responses/\#
        Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Proble\#
        m403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/Problem409"}\#
        ,"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417"\#
        :{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$re\#
        f":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","key_conflict","key_lo\#
        st","rate_limited","storage_unavailable"]}},\#
        "/v1/keys/{contentId}":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/PathContentId"}],\#
        "get":{"operationId":"getKeys","tags":["packagers"],"summary":"The keys of a content, in the form of a packa\#
        ger","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"\#
        parameters":[{"$ref":"#/components/parameters/KeyFormat"},{"$ref":"#/components/parameters/TrackLabel"},{"$r\#
        ef":"#/components/parameters/Period"},{"$ref":"#/components/parameters/AfterKey"},{"$ref":"#/components/para\#
        meters/KeyLimit"}],"responses":{"200":{"description":"A page of keys.","headers":{"X-Request-Id":{"$ref":"#/\#
        components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"Link":{"$ref":"\#
        #/components/headers/Link"}},"content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas\#
        /KeyPage"},{"description":"nginx-vod: an array of one object.","type":"array","minItems":1},{"description":"\#
        mediaconvert and bitmovin: their own objects.","type":"object","not":{"required":["contentId","keys"]}}]}},"\#
        text/plain; charset=utf-8":{"schema":{"description":"shaka, bento4, bento4-dash, bento4-hls, wowza, usp an\#
        d hls.","type":"string"}},"application/yaml":{"schema":{"description":"shaka-streamer.","type":"string"}},"a\#
        pplication/xml":{"schema":{"description":"gpac and cpix.","type":"string"}},"application/octet-stream":{"sch\#
        ema":{"description":"mediafilesegmenter: 16 bytes of key, 16 of vector.","type":"string","contentMediaType":\#
        "application/octet-stream"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/component\#
        s/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/resp\#
        onses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/\#
        Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Proble\#
        m417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"}\#
        ,"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503"\#
        :{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-c\#
        odes":["key_not_found","packager_invalid","packager_forbidden","rate_limited","storage_unavailable","not_fou\#
        nd"]},\#
        "head":{"operationId":"headGetKeys","tags":["packagers"],"summary":"The fields of the answer to GET","securi\#
        ty":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":\#
        [{"$ref":"#/components/parameters/KeyFormat"},{"$ref":"#/components/parameters/TrackLabel"},{"$ref":"#/compo\#
        nents/parameters/Period"},{"$ref":"#/components/parameters/AfterKey"},{"$ref":"#/components/parameters/KeyLi\#
        mit"}],"responses":{"200":{"description":"A page of keys.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"Link":{"$ref":"#/components\#
        /headers/Link"}},"content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/KeyPage"},{\#
        "description":"nginx-vod: an array of one object.","type":"array","minItems":1},{"description":"mediaconver\#
        t and bitmovin: their own objects.","type":"object","not":{"required":["contentId","keys"]}}]}},"text/plain\#
        ; charset=utf-8":{"schema":{"description":"shaka, bento4, bento4-dash, bento4-hls, wowza, usp and hls.","typ\#
        e":"string"}},"application/yaml":{"schema":{"description":"shaka-streamer.","type":"string"}},"application/x\#
        ml":{"schema":{"description":"gpac and cpix.","type":"string"}},"application/octet-stream":{"schema":{"descr\#
        iption":"mediafilesegmenter: 16 bytes of key, 16 of vector.","type":"string","contentMediaType":"application\#
        /octet-stream"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/\#
        Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Proble\#
        m404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"}\#
        ,"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429"\#
        :{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$re\#
        f":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/\#
        components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["key_\#
        not_found","packager_invalid","packager_forbidden","rate_limited","storage_unavailable","not_found"]}},\#
        "/":{"x-listeners":["admin"],\#
        "get":{"operationId":"getPage","tags":["administration"],"summary":"The operator's page","security":[],"resp\#
        onses":{"200":{"description":"The page. It needs no credential, and asks for one.","headers":{"X-Request-Id"\#
        :{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"co\#
        ntent":{"text/html; charset=utf-8":{"schema":{"type":"string","minLength":1}}}},"304":{"description":"If-Non\#
        e-Match names the file that the daemon has.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Request\#
        Id"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}}},"400":{"$ref":"#/components/responses/Pr\#
        oblem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem4\#
        13"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"\#
        429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{\#
        "$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref"\#
        :"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["\#
        storage_unavailable"]},\#
        "head":{"operationId":"headGetPage","tags":["administration"],"summary":"The fields of the answer to GET","s\#
        ecurity":[],"responses":{"200":{"description":"The page. It needs no credential, and asks for one.","headers\#
        ":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/Ca\#
        cheControl"}},"content":{"text/html; charset=utf-8":{"schema":{"type":"string","minLength":1}}}},"304":{"des\#
        cription":"If-None-Match names the file that the daemon has.","headers":{"X-Request-Id":{"$ref":"#/component\#
        s/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}}},"400":{"$ref":"#/compon\#
        ents/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/r\#
        esponses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respons\#
        es/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Pro\#
        blem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem50\#
        1"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"\#
        x-error-codes":["storage_unavailable"]}},\#
        "/page/{file}":{"x-listeners":["admin"],\#
        "parameters":[{"$ref":"#/components/parameters/PageFile"}],\#
        "get":{"operationId":"getPageFile","tags":["administration"],"summary":"A file of the operator's page","secu\#
        rity":[],"responses":{"200":{"description":"The file. It is the same in every installation.","headers":{"X-R\#
        equest-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheCont\#
        rol"}},"content":{"text/html; charset=utf-8":{"schema":{"type":"string","minLength":1}},"text/css; charset=u\#
        tf-8":{"schema":{"type":"string","minLength":1}},"text/javascript; charset=utf-8":{"schema":{"type":"string"\#
        ,"minLength":1}},"image/svg+xml":{"schema":{"type":"string","minLength":1}}}},"304":{"description":"If-None-\#
        Match names the file that the daemon has.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId\#
        "},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}}},"400":{"$ref":"#/components/responses/Prob\#
        lem400"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408\#
        "},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"41\#
        7":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$\#
        ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"\#
        #/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/comp\#
        onents/responses/Problem505"}},"x-error-codes":["not_found","storage_unavailable"]},\#
        "head":{"operationId":"headGetPageFile","tags":["administration"],"summary":"The fields of the answer to GET\#
        ","security":[],"responses":{"200":{"description":"The file. It is the same in every installation.","headers\#
        ":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/Ca\#
        cheControl"}},"content":{"text/html; charset=utf-8":{"schema":{"type":"string","minLength":1}},"text/css; ch\#
        arset=utf-8":{"schema":{"type":"string","minLength":1}},"text/javascript; charset=utf-8":{"schema":{"type":"\#
        string","minLength":1}},"image/svg+xml":{"schema":{"type":"string","minLength":1}}}},"304":{"description":"I\#
        f-None-Match names the file that the daemon has.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Re\#
        questId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}}},"400":{"$ref":"#/components/respons\#
        es/Problem400"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Pro\#
        blem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem41\#
        4"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"4\#
        31":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"\#
        $ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":\#
        "#/components/responses/Problem505"}},"x-error-codes":["not_found","storage_unavailable"]}},\#
        "/metrics":{"x-listeners":["admin"],\#
        "get":{"operationId":"getMetrics","tags":["administration"],"summary":"Metrics for Prometheus","security":[{\#
        "adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description":"The text fo\#
        rmat 0.0.4.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/\#
        components/headers/CacheControl"}},"content":{"text/plain; version=0.0.4; charset=utf-8":{"schema":{"type":"\#
        string","pattern":"^# HELP "}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/compone\#
        nts/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/components/re\#
        sponses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/response\#
        s/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Prob\#
        lem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500\#
        "},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x\#
        -error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited"]},\#
        "head":{"operationId":"headGetMetrics","tags":["administration"],"summary":"The fields of the answer to GET"\#
        ,"security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description\#
        ":"The text format 0.0.4.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Contro\#
        l":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; version=0.0.4; charset=utf-8":{"sch\#
        ema":{"type":"string","pattern":"^# HELP "}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$r\#
        ef":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/compo\#
        nents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/\#
        responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/respon\#
        ses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Pr\#
        oblem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited\#
        "]}},\#
        "/v1/whoami":{"x-listeners":["admin"],\#
        "get":{"operationId":"whoAmI","tags":["administration"],"summary":"Who the sender is, and what it may do","s\#
        ecurity":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description":"\#
        The credential of the request.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-C\#
        ontrol":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/com\#
        ponents/schemas/Administrator"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/compo\#
        nents/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/components/\#
        responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/respon\#
        ses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Pr\#
        oblem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem5\#
        00"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"\#
        505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_origin_refu\#
        sed","rate_limited","storage_unavailable"]},\#
        "head":{"operationId":"headWhoAmI","tags":["administration"],"summary":"The fields of the answer to GET","se\#
        curity":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description":"T\#
        he credential of the request.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Co\#
        ntrol":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/comp\#
        onents/schemas/Administrator"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/compon\#
        ents/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/components/r\#
        esponses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/respons\#
        es/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Pro\#
        blem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem50\#
        0"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"5\#
        05":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_origin_refus\#
        ed","rate_limited","storage_unavailable"]}},\#
        "/v1/session":{"x-listeners":["admin"],\#
        "post":{"operationId":"beginSession","tags":["administration"],"summary":"Begins a session of the operator'\#
        s page, for the holder of a token","requestBody":{"required":true,"content":{"application/json":{"schema":{"\#
        $ref":"#/components/schemas/SessionOrder"}}}},"responses":{"200":{"description":"The session. The cookie ha\#
        s its id.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Set-Cookie":{"$ref":"#/compo\#
        nents/headers/SessionCookie"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appl\#
        ication/json":{"schema":{"$ref":"#/components/schemas/Administrator"}}}},"400":{"$ref":"#/components/respons\#
        es/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Pro\#
        blem403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem41\#
        3"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/components/responses/Problem415"},"4\#
        17":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"\#
        $ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":\#
        "#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/com\#
        ponents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_origin_refused","media_type_un\#
        supported","rate_limited","storage_unavailable"]},\#
        "delete":{"operationId":"endSession","tags":["administration"],"summary":"Ends the session of the request","\#
        security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description":\#
        "The session has ended.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control"\#
        :{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components\#
        /schemas/SessionEnd"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/resp\#
        onses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/components/responses/\#
        Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Proble\#
        m414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"}\#
        ,"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501"\#
        :{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$re\#
        f":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_origin_refused","rate\#
        _limited","storage_unavailable"]}},\#
        "/v1/explain":{"x-listeners":["admin"],\#
        "post":{"operationId":"explain","tags":["administration"],"summary":"Every check of a token and an SPC, an\#
        d the terms that would follow","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"r\#
        equestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ExplainQu\#
        estion"}}}},"responses":{"200":{"description":"The explanation. Nothing is issued.","headers":{"X-Request-Id\#
        ":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"c\#
        ontent":{"application/json":{"schema":{"$ref":"#/components/schemas/Explanation"}}}},"400":{"$ref":"#/compon\#
        ents/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/r\#
        esponses/Problem403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/respons\#
        es/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Pro\#
        blem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem43\#
        1"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"5\#
        03":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-erro\#
        r-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavaila\#
        ble"]}},\#
        "/v1/drain":{"x-listeners":["admin"],\#
        "post":{"operationId":"drain","tags":["administration"],"summary":"Orders that the node is not ready, whil\#
        e it serves","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{\#
        "description":"The node is not ready. Requests that come are served.","headers":{"X-Request-Id":{"$ref":"#/c\#
        omponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appl\#
        ication/json":{"schema":{"$ref":"#/components/schemas/Readiness"}}}},"400":{"$ref":"#/components/responses/P\#
        roblem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem\#
        403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},\#
        "414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":\#
        {"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref\#
        ":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/c\#
        omponents/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin\#
        _token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable"]}},\#
        "/v1/ready":{"x-listeners":["admin"],\#
        "post":{"operationId":"endDrain","tags":["administration"],"summary":"Ends the order that the node is not re\#
        ady","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"descrip\#
        tion":"The node is ready again, if nothing else keeps it from that.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/Readiness"}}}},"400":{"$ref":"#/components/responses/Pr\#
        oblem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem4\#
        03"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"\#
        414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{\#
        "$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref"\#
        :"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/co\#
        mponents/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_\#
        token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable"]}},\#
        "/v1/revocations":{"x-listeners":["admin"],\#
        "get":{"operationId":"listRevocations","tags":["administration"],"summary":"What is revoked, the latest firs\#
        t","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"descripti\#
        on":"At most 1,000 revocations.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-\#
        Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/co\#
        mponents/schemas/Revocations"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/compon\#
        ents/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/r\#
        esponses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/respons\#
        es/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Pro\#
        blem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem43\#
        1"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"5\#
        03":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-erro\#
        r-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavaila\#
        ble","not_found"]},\#
        "head":{"operationId":"headListRevocations","tags":["administration"],"summary":"The fields of the answer t\#
        o GET","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"descr\#
        iption":"At most 1,000 revocations.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Ca\#
        che-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"\#
        #/components/schemas/Revocations"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/co\#
        mponents/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/componen\#
        ts/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/res\#
        ponses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses\#
        /Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Probl\#
        em431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"\#
        },"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-\#
        error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unav\#
        ailable","not_found"]},\#
        "post":{"operationId":"revoke","tags":["administration"],"summary":"Revokes a token, a key, an issuer, a sub\#
        ject, a device, a content or a session","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate\#
        ":[]}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/\#
        RevocationOrder"}}}},"responses":{"200":{"description":"It holds on this node.","headers":{"X-Request-Id":{"\#
        $ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"conte\#
        nt":{"application/json":{"schema":{"$ref":"#/components/schemas/RevocationAdded"}}}},"400":{"$ref":"#/compon\#
        ents/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/r\#
        esponses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/respons\#
        es/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Pro\#
        blem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem42\#
        9"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"5\#
        01":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"\#
        $ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","adm\#
        in_origin_refused","rate_limited","storage_unavailable","not_found"]},\#
        "delete":{"operationId":"liftRevocation","tags":["administration"],"summary":"Gives back what was revoked","\#
        security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/component\#
        s/parameters/RevocationKind"},{"$ref":"#/components/parameters/RevocationValue"},{"$ref":"#/components/param\#
        eters/RevocationIssuer"}],"responses":{"200":{"description":"What was given back.","headers":{"X-Request-Id"\#
        :{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"co\#
        ntent":{"application/json":{"schema":{"$ref":"#/components/schemas/Revocation"}}}},"400":{"$ref":"#/componen\#
        ts/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/res\#
        ponses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses\#
        /Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Probl\#
        em414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"\#
        },"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501\#
        ":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$r\#
        ef":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin\#
        _origin_refused","rate_limited","storage_unavailable","not_found"]}},\#
        "/v1/refusals/{requestId}":{"x-listeners":["admin"],\#
        "parameters":[{"$ref":"#/components/parameters/PathRequestId"}],\#
        "get":{"operationId":"getRefusal","tags":["administration"],"summary":"Why a request was refused","security"\#
        :[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description":"The refu\#
        sal, if it is among the last 10,000.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"C\#
        ache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":\#
        "#/components/schemas/Refusal"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/compo\#
        nents/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/\#
        responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/respon\#
        ses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Pr\#
        oblem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem4\#
        31"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"\#
        503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-err\#
        or-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavail\#
        able","not_found"]},\#
        "head":{"operationId":"headGetRefusal","tags":["administration"],"summary":"The fields of the answer to GET"\#
        ,"security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description\#
        ":"The refusal, if it is among the last 10,000.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Req\#
        uestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schem\#
        a":{"$ref":"#/components/schemas/Refusal"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$re\#
        f":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/\#
        components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/compon\#
        ents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/r\#
        esponses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/respons\#
        es/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Pro\#
        blem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem50\#
        5"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","stor\#
        age_unavailable","not_found"]}},\#
        "/v1/status":{"x-listeners":["admin"],\#
        "get":{"operationId":"getStatus","tags":["administration"],"summary":"The state of the node","security":[{"a\#
        dminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description":"The state now\#
        .","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components\#
        /headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Status"}}}},"\#
        400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{\#
        "$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref"\#
        :"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/co\#
        mponents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/componen\#
        ts/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/res\#
        ponses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses\#
        /Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","ad\#
        min_role_missing","admin_origin_refused","rate_limited","storage_unavailable","not_found"]},\#
        "head":{"operationId":"headGetStatus","tags":["administration"],"summary":"The fields of the answer to GET",\#
        "security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description"\#
        :"The state now.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref\#
        ":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schema\#
        s/Status"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Probl\#
        em401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"\#
        },"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414\#
        ":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$r\#
        ef":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#\#
        /components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/compo\#
        nents/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_tok\#
        en_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable","not_found"]}},\#
        "/v1/history":{"x-listeners":["admin"],\#
        "get":{"operationId":"getHistory","tags":["administration"],"summary":"The samples of the last hour","securi\#
        ty":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/para\#
        meters/Since"}],"responses":{"200":{"description":"One value of each series for each step of ten seconds, th\#
        e oldest first.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref"\#
        :"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas\#
        /History"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Probl\#
        em401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"\#
        },"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414\#
        ":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$r\#
        ef":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#\#
        /components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/compo\#
        nents/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_tok\#
        en_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable","not_found"]},\#
        "head":{"operationId":"headGetHistory","tags":["administration"],"summary":"The fields of the answer to GET"\#
        ,"security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/compone\#
        nts/parameters/Since"}],"responses":{"200":{"description":"One value of each series for each step of ten sec\#
        onds, the oldest first.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control"\#
        :{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components\#
        /schemas/History"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/respons\#
        es/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Pro\#
        blem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem41\#
        3"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"4\#
        29":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"\#
        $ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":\#
        "#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["a\#
        dmin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable","not_fo\#
        und"]}},\#
        "/v1/events":{"x-listeners":["admin"],\#
        "get":{"operationId":"getEvents","tags":["administration"],"summary":"Samples and changes, as they come","de\#
        scription":"The answer ends after an hour, when the credential is no longer good, and when the daemon stops\#
        . At most 16 readers are served at a time.","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertifi\#
        cate":[]}],"responses":{"200":{"description":"Events of two kinds: `sample` with a `Sample`, every two secon\#
        ds, and `status` with a `Status`, at first and after each change.","headers":{"X-Request-Id":{"$ref":"#/comp\#
        onents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/ev\#
        ent-stream":{"schema":{"type":"string"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":\#
        "#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/com\#
        ponents/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/component\#
        s/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/resp\#
        onses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/\#
        Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Proble\#
        m501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}\#
        },"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage\#
        _unavailable","not_found"]},\#
        "head":{"operationId":"headGetEvents","tags":["administration"],"summary":"The fields of the answer to GET",\#
        "security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"responses":{"200":{"description"\#
        :"Events of two kinds: `sample` with a `Sample`, every two seconds, and `status` with a `Status`, at first a\#
        nd after each change.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{\#
        "$ref":"#/components/headers/CacheControl"}},"content":{"text/event-stream":{"schema":{"type":"string"}}}},"\#
        400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{\#
        "$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref"\#
        :"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/co\#
        mponents/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/componen\#
        ts/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/res\#
        ponses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses\#
        /Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","ad\#
        min_role_missing","admin_origin_refused","rate_limited","storage_unavailable","not_found"]}},\#
        "/v1/refusals":{"x-listeners":["admin"],\#
        "get":{"operationId":"listRefusals","tags":["administration"],"summary":"The last refusals","description":"O\#
        f the last 10,000 refusals, which are kept in memory.","security":[{"adminToken":[]},{"adminSession":[]},{"a\#
        dminCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/RefusalLimit"},{"$ref":"#/components/pa\#
        rameters/Before"},{"$ref":"#/components/parameters/RefusalCode"}],"responses":{"200":{"description":"A page\#
        , the newest first. A page may end early; `next` says whether there is more.","headers":{"X-Request-Id":{"$r\#
        ef":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content\#
        ":{"application/json":{"schema":{"$ref":"#/components/schemas/RefusalsPage"}}}},"400":{"$ref":"#/components/\#
        responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/respon\#
        ses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Pr\#
        oblem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem4\#
        14"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"\#
        431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{\#
        "$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_or\#
        igin_refused","rate_limited","storage_unavailable","not_found"]},\#
        "head":{"operationId":"headListRefusals","tags":["administration"],"summary":"The fields of the answer to GE\#
        T","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/compo\#
        nents/parameters/RefusalLimit"},{"$ref":"#/components/parameters/Before"},{"$ref":"#/components/parameters/R\#
        efusalCode"}],"responses":{"200":{"description":"A page, the newest first. A page may end early; `next` say\#
        s whether there is more.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control\#
        ":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/component\#
        s/schemas/RefusalsPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/r\#
        esponses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/respons\#
        es/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Pro\#
        blem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem41\#
        7"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"5\#
        00":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"\#
        $ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-code\#
        s":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable","\#
        not_found"]}},\#
        "/v1/ledger":{"x-listeners":["admin"],\#
        "get":{"operationId":"listLedger","tags":["administration"],"summary":"The entries of this node's ledger","d\#
        escription":"An entry must match every parameter that is given. `request`, `license`, `subject` and `content\#
        ` are indexed; the others are found by reading.","security":[{"adminToken":[]},{"adminSession":[]},{"adminCe\#
        rtificate":[]}],"parameters":[{"$ref":"#/components/parameters/LedgerRequest"},{"$ref":"#/components/paramet\#
        ers/LedgerLicense"},{"$ref":"#/components/parameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$\#
        ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/Customer"},{"$ref":"#/components/par\#
        ameters/LedgerDevice"},{"$ref":"#/components/parameters/LedgerPlayback"},{"$ref":"#/components/parameters/Le\#
        dgerContent"},{"$ref":"#/components/parameters/LedgerKey"},{"$ref":"#/components/parameters/LedgerLimit"},{"\#
        $ref":"#/components/parameters/AfterSequence"}],"responses":{"200":{"description":"A page, the newest first\#
        . A page reads a limited number of rows, so it may have fewer entries than asked for, or none; `next` says w\#
        here to continue.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$re\#
        f":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref":"#/components/schem\#
        as/LedgerPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/\#
        Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Proble\#
        m404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"}\#
        ,"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429"\#
        :{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$re\#
        f":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/\#
        components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admi\#
        n_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage_unavailable","not_found\#
        "]},\#
        "head":{"operationId":"headListLedger","tags":["administration"],"summary":"The fields of the answer to GET"\#
        ,"security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/compone\#
        nts/parameters/LedgerRequest"},{"$ref":"#/components/parameters/LedgerLicense"},{"$ref":"#/components/parame\#
        ters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"\#
        #/components/parameters/Customer"},{"$ref":"#/components/parameters/LedgerDevice"},{"$ref":"#/components/par\#
        ameters/LedgerPlayback"},{"$ref":"#/components/parameters/LedgerContent"},{"$ref":"#/components/parameters/L\#
        edgerKey"},{"$ref":"#/components/parameters/LedgerLimit"},{"$ref":"#/components/parameters/AfterSequence"}],\#
        "responses":{"200":{"description":"A page, the newest first. A page reads a limited number of rows, so it ma\#
        y have fewer entries than asked for, or none; `next` says where to continue.","headers":{"X-Request-Id":{"$r\#
        ef":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content\#
        ":{"application/json":{"schema":{"$ref":"#/components/schemas/LedgerPage"}}}},"400":{"$ref":"#/components/re\#
        sponses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/response\#
        s/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Prob\#
        lem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414\#
        "},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"43\#
        1":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$\#
        ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"\#
        #/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_orig\#
        in_refused","rate_limited","storage_unavailable","not_found"]}},\#
        "/v1/contents":{"x-listeners":["admin"],\#
        "get":{"operationId":"listContents","tags":["administration"],"summary":"The contents that have keys","secur\#
        ity":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/par\#
        ameters/ContentLimit"},{"$ref":"#/components/parameters/AfterContent"},{"$ref":"#/components/parameters/Cont\#
        entPrefix"}],"responses":{"200":{"description":"A page, in the order of the ids.","headers":{"X-Request-Id":\#
        {"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"con\#
        tent":{"application/json":{"schema":{"$ref":"#/components/schemas/ContentsPage"}}}},"400":{"$ref":"#/compone\#
        nts/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/re\#
        sponses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/response\#
        s/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Prob\#
        lem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429\#
        "},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"50\#
        1":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$\#
        ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admi\#
        n_origin_refused","rate_limited","storage_unavailable","not_found","key_store_timeout"]},\#
        "head":{"operationId":"headListContents","tags":["administration"],"summary":"The fields of the answer to GE\#
        T","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/compo\#
        nents/parameters/ContentLimit"},{"$ref":"#/components/parameters/AfterContent"},{"$ref":"#/components/parame\#
        ters/ContentPrefix"}],"responses":{"200":{"description":"A page, in the order of the ids.","headers":{"X-Req\#
        uest-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheContro\#
        l"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/ContentsPage"}}}},"400":{"$ref":"\#
        #/components/responses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/comp\#
        onents/responses/Problem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components\#
        /responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/respo\#
        nses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/P\#
        roblem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem\#
        500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},\#
        "505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missi\#
        ng","admin_origin_refused","rate_limited","storage_unavailable","not_found","key_store_timeout"]}},\#
        "/v1/contents/{contentId}/keys":{"x-listeners":["admin"],\#
        "parameters":[{"$ref":"#/components/parameters/PathContentId"}],\#
        "get":{"operationId":"listContentKeys","tags":["administration"],"summary":"The keys of a content, without t\#
        he keys themselves","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":\#
        [{"$ref":"#/components/parameters/ContentKeyLimit"},{"$ref":"#/components/parameters/AfterContentKey"}],"res\#
        ponses":{"200":{"description":"A page, in the order of the key ids.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/ContentKeysPage"}}}},"400":{"$ref":"#/components/respon\#
        ses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Pr\#
        oblem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem4\#
        08"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"\#
        417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{\#
        "$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref"\#
        :"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/co\#
        mponents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_r\#
        efused","rate_limited","storage_unavailable","not_found","key_store_timeout"]},\#
        "head":{"operationId":"headListContentKeys","tags":["administration"],"summary":"The fields of the answer t\#
        o GET","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/c\#
        omponents/parameters/ContentKeyLimit"},{"$ref":"#/components/parameters/AfterContentKey"}],"responses":{"200\#
        ":{"description":"A page, in the order of the key ids.","headers":{"X-Request-Id":{"$ref":"#/components/head\#
        ers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":\#
        {"schema":{"$ref":"#/components/schemas/ContentKeysPage"}}}},"400":{"$ref":"#/components/responses/Problem40\#
        0"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"4\#
        04":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"\#
        $ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":\#
        "#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/com\#
        ponents/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/component\#
        s/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/resp\#
        onses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate\#
        _limited","storage_unavailable","not_found","key_store_timeout"]}},\#
        "/v1/devices":{"x-listeners":["admin"],\#
        "get":{"operationId":"listDevices","tags":["administration"],"summary":"The devices of a subject","security"\#
        :[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/paramet\#
        ers/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#\#
        /components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/paramet\#
        ers/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json"\#
        :{"schema":{"$ref":"#/components/schemas/DevicesPage"}}}},"400":{"$ref":"#/components/responses/Problem400"}\#
        ,"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404"\#
        :{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$re\#
        f":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/\#
        components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/compon\#
        ents/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/r\#
        esponses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/respons\#
        es/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_li\#
        mited","storage_unavailable","not_found"]},\#
        "head":{"operationId":"headListDevices","tags":["administration"],"summary":"The fields of the answer to GET\#
        ","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/compon\#
        ents/parameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"\#
        },{"$ref":"#/components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/compon\#
        ents/parameters/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/DevicesPage"}}}},"400":{"$ref":"#/components/responses/\#
        Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Proble\#
        m403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"}\#
        ,"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417"\#
        :{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$re\#
        f":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refus\#
        ed","rate_limited","storage_unavailable","not_found"]},\#
        "delete":{"operationId":"changeDevices","tags":["administration"],"summary":"Removes devices","description":\#
        "The query names the subject, and takes `all=true` or one of the others.","security":[{"adminToken":[]},{"ad\#
        minSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"#\#
        /components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/C\#
        ustomer"},{"$ref":"#/components/parameters/All"},{"$ref":"#/components/parameters/DeviceName"}],"responses":\#
        {"200":{"description":"What was found and changed.","headers":{"X-Request-Id":{"$ref":"#/components/headers/\#
        RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"sc\#
        hema":{"$ref":"#/components/schemas/DevicesPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401\#
        ":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$r\#
        ef":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#\#
        /components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compo\#
        nents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/\#
        responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/respon\#
        ses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Pr\#
        oblem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited\#
        ","storage_unavailable","not_found"]}},\#
        "/v1/playbacks":{"x-listeners":["admin"],\#
        "get":{"operationId":"listPlaybacks","tags":["administration"],"summary":"The playbacks of a subject","secur\#
        ity":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/par\#
        ameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref\#
        ":"#/components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/par\#
        ameters/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/components\#
        /headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/j\#
        son":{"schema":{"$ref":"#/components/schemas/PlaybacksPage"}}}},"400":{"$ref":"#/components/responses/Proble\#
        m400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"}\#
        ,"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413"\#
        :{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$re\#
        f":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/\#
        components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/compon\#
        ents/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/r\#
        esponses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","r\#
        ate_limited","storage_unavailable","not_found"]},\#
        "head":{"operationId":"headListPlaybacks","tags":["administration"],"summary":"The fields of the answer to G\#
        ET","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/comp\#
        onents/parameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cooki\#
        e"},{"$ref":"#/components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/comp\#
        onents/parameters/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/\#
        components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"app\#
        lication/json":{"schema":{"$ref":"#/components/schemas/PlaybacksPage"}}}},"400":{"$ref":"#/components/respon\#
        ses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Pr\#
        oblem403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem4\#
        08"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"\#
        417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{\#
        "$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref"\#
        :"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/co\#
        mponents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_r\#
        efused","rate_limited","storage_unavailable","not_found"]},\#
        "delete":{"operationId":"changePlaybacks","tags":["administration"],"summary":"Ends playbacks","description"\#
        :"The query names the subject, and takes `all=true` or one of the others.","security":[{"adminToken":[]},{"a\#
        dminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"\#
        #/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/\#
        Customer"},{"$ref":"#/components/parameters/All"},{"$ref":"#/components/parameters/PlaybackName"},{"$ref":"#\#
        /components/parameters/DeviceName"},{"$ref":"#/components/parameters/ContentName"}],"responses":{"200":{"des\#
        cription":"What was found and changed.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},\#
        "Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref\#
        ":"#/components/schemas/PlaybacksPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":\#
        "#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/com\#
        ponents/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/component\#
        s/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/resp\#
        onses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/\#
        Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Proble\#
        m501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}\#
        },"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limited","storage\#
        _unavailable","not_found"]}},\#
        "/v1/rentals":{"x-listeners":["admin"],\#
        "get":{"operationId":"listRentals","tags":["administration"],"summary":"The rentals of a subject","security"\#
        :[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/paramet\#
        ers/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#\#
        /components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/components/paramet\#
        ers/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json"\#
        :{"schema":{"$ref":"#/components/schemas/RentalsPage"}}}},"400":{"$ref":"#/components/responses/Problem400"}\#
        ,"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404"\#
        :{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$re\#
        f":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/\#
        components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/compon\#
        ents/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/r\#
        esponses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/respons\#
        es/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_li\#
        mited","storage_unavailable","not_found"]},\#
        "head":{"operationId":"headListRentals","tags":["administration"],"summary":"The fields of the answer to GET\#
        ","security":[{"adminToken":[]},{"adminSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/compon\#
        ents/parameters/Subject"},{"$ref":"#/components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"\#
        },{"$ref":"#/components/parameters/Customer"},{"$ref":"#/components/parameters/PageLimit"},{"$ref":"#/compon\#
        ents/parameters/After"}],"responses":{"200":{"description":"A page.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/RentalsPage"}}}},"400":{"$ref":"#/components/responses/\#
        Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Proble\#
        m403"},"404":{"$ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"}\#
        ,"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417"\#
        :{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$re\#
        f":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refus\#
        ed","rate_limited","storage_unavailable","not_found"]},\#
        "delete":{"operationId":"changeRentals","tags":["administration"],"summary":"Forgets rentals","description":\#
        "The query names the subject, and takes `all=true` or one of the others.","security":[{"adminToken":[]},{"ad\#
        minSession":[]},{"adminCertificate":[]}],"parameters":[{"$ref":"#/components/parameters/Subject"},{"$ref":"#\#
        /components/parameters/Issuer"},{"$ref":"#/components/parameters/Cookie"},{"$ref":"#/components/parameters/C\#
        ustomer"},{"$ref":"#/components/parameters/All"},{"$ref":"#/components/parameters/ContentName"}],"responses"\#
        :{"200":{"description":"What was found and changed.","headers":{"X-Request-Id":{"$ref":"#/components/headers\#
        /RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"s\#
        chema":{"$ref":"#/components/schemas/RentalsPage"}}}},"400":{"$ref":"#/components/responses/Problem400"},"40\#
        1":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$\#
        ref":"#/components/responses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/P\#
        roblem505"}},"x-error-codes":["admin_token_invalid","admin_role_missing","admin_origin_refused","rate_limite\#
        d","storage_unavailable","not_found"]}}},\#
        "components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer","bearerFormat":"JWT","description"\#
        :"A token of a configured issuer, or the session token of the licence before."},\#
        "nvAuthorizations":{"type":"apiKey","in":"header","name":"nv-authorizations","description":"The same in NAGR\#
        A's header: up to eight tokens with commas between. Refusals are then in NAGRA's manner."},\#
        "axinomMessage":{"type":"apiKey","in":"header","name":"X-AxDRM-Message","description":"The same in Axinom'\#
        s header."},\#
        "axinomQuery":{"type":"apiKey","in":"query","name":"AxDrmMessage","description":"The same in Axinom's query.\#
        "},\#
        "drmToday":{"type":"apiKey","in":"header","name":"x-dt-auth-token","description":"The same in castLabs' head\#
        er."},\#
        "drmCloud":{"type":"apiKey","in":"header","name":"X-Drm-UserToken","description":"The same in drm.cloud's he\#
        ader."},\#
        "expressPlayToken":{"type":"apiKey","in":"header","name":"ExpressPlayToken","description":"The same in Expre\#
        ssPlay's header."},\#
        "expressPlayQuery":{"type":"apiKey","in":"query","name":"ExpressPlayToken","description":"The same in Expres\#
        sPlay's query."},\#
        "tokenQuery":{"type":"apiKey","in":"query","name":"token","description":"The same in the query."},\#
        "userTokenQuery":{"type":"apiKey","in":"query","name":"UserToken","description":"The same in the query."},\#
        "drmTokenQuery":{"type":"apiKey","in":"query","name":"drm_token","description":"The same in the query."},\#
        "packagerBasic":{"type":"http","scheme":"basic","description":"The packager's name and secret."},\#
        "packagerBearer":{"type":"http","scheme":"bearer","description":"The packager's secret."},\#
        "packagerKey":{"type":"apiKey","in":"header","name":"x-api-key","description":"The packager's secret."},\#
        "packagerCertificate":{"type":"mutualTLS","description":"A client certificate that is configured for the pac\#
        kager."},\#
        "customerAuthenticator":{"type":"apiKey","in":"query","name":"customerAuthenticator","description":"The auth\#
        enticator of a customer, which may be a member of the form instead."},\#
        "entitlementServer":{"type":"http","scheme":"bearer","description":"The secret of `expressPlay.sees`."},\#
        "entitlementServerCertificate":{"type":"mutualTLS","description":"A client certificate that `expressPlay.see\#
        s.clients` names."},\#
        "adminToken":{"type":"http","scheme":"bearer","description":"A token of the admin listener, whose roles sa\#
        y what it may do. A loopback listener without a credential answers every process of its machine, and change\#
        s nothing for it."},\#
        "adminSession":{"type":"apiKey","in":"cookie","name":"latchkey_admin","description":"A session of the operat\#
        or's page, with the roles of its token. Over HTTPS the name is `__Host-latchkey_admin`. A request other tha\#
        n GET and HEAD also needs the form token of `GET /v1/whoami` in `X-Latchkey-Form`."},\#
        "adminCertificate":{"type":"mutualTLS","description":"A client certificate of the admin listener, whose role\#
        s say what it may do."}},\#
        "parameters":{"Offline":{"name":"offline","in":"query","description":"Asks for a licence that the device ma\#
        y keep (`1`, `true`, or nothing), or may not.","schema":{"enum":["","0","1","true","false"]},"example":"1","\#
        allowEmptyValue":true},\#
        "Renew":{"name":"renew","in":"query","description":"Says that the request renews a licence.","schema":{"enum\#
        ":["","0","1","true","false"]},"example":"true","allowEmptyValue":true},\#
        "Previous":{"name":"previous","in":"query","description":"The id of the licence that is renewed, as `X-Licen\#
        se-Id` had it.","schema":{"type":"string"}},\#
        "Format":{"name":"format","in":"query","description":"The shape of the answer. Without it the path, `Accept\#
        ` and the shape of the request decide.","schema":{"enum":["raw","base64","ckc","json","kaltura","nagra"]},"e\#
        xample":"json"},\#
        "AssetId":{"name":"assetId","in":"query","description":"Names the key. A hint only: the SPC decides, and a n\#
        ame of another key is refused.","schema":{"type":"string"}},\#
        "ContentIdHint":{"name":"contentId","in":"query","description":"Names the key. A hint only: the SPC decides\#
        , and a name of another key is refused.","schema":{"type":"string"}},\#
        "KIDHint":{"name":"KID","in":"query","description":"Names the key. A hint only: the SPC decides, and a nam\#
        e of another key is refused.","schema":{"type":"string"}},\#
        "VideoId":{"name":"videoId","in":"query","description":"Names the key. A hint only: the SPC decides, and a n\#
        ame of another key is refused.","schema":{"type":"string"}},\#
        "KIDField":{"name":"KID","in":"header","description":"Names the key, as the parameters of the query do.","sc\#
        hema":{"type":"string"}},\#
        "RenewField":{"name":"X-License-Renew","in":"header","description":"`1` says the same as `renew=true`.","sch\#
        ema":{"type":"string"},"example":"1"},\#
        "TraceParent":{"name":"traceparent","in":"header","description":"The trace of the request (W3C Trace Context\#
        ). It is logged, and passed on to the entitlement service. An invalid one is ignored.","schema":{"type":"str\#
        ing"},"example":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},\#
        "TraceState":{"name":"tracestate","in":"header","description":"Passed on with `traceparent` if it has at mos\#
        t 512 bytes.","schema":{"type":"string"},"example":"congo=t61rcWkgMzE"},\#
        "Credential":{"name":"credential","in":"query","description":"The credential's name; the first one unless gi\#
        ven.","schema":{"type":"string"},"example":"main"},\#
        "Size":{"name":"size","in":"query","description":"One of the two certificates; the bundle of both unless giv\#
        en.","schema":{"enum":["1024","2048"]},"example":"2048"},\#
        "CertificateFormat":{"name":"format","in":"query","description":"How the certificate is written.","schema":{\#
        "enum":["raw","base64","pem","json"]},"example":"pem"},\#
        "IfNoneMatch":{"name":"If-None-Match","in":"header","description":"The entity tags that the client has.","sc\#
        hema":{"type":"string"}},\#
        "PathKeyId":{"name":"kid","in":"path","required":true,"description":"Names the key: a hint, 2 to 1,024 bytes\#
        .","schema":{"type":"string","minLength":2,"maxLength":1024},"example":"movie-42"},\#
        "Prefix":{"name":"prefix","in":"path","required":true,"description":"One segment or more, which say nothing.\#
        ","schema":{"type":"string","minLength":1},"example":"tenant"},\#
        "PathContentId":{"name":"contentId","in":"path","required":true,"description":"The content id, percent-encod\#
        ed: 1 to 200 printable ASCII characters without space.","schema":{"type":"string","pattern":"^[!-~]{1,200}$"\#
        },"example":"movie-42"},\#
        "PageFile":{"name":"file","in":"path","required":true,"description":"The name of a file of the page.","schem\#
        a":{"type":"string","minLength":1},"example":"main.js"},\#
        "PathRequestId":{"name":"requestId","in":"path","required":true,"description":"The id of a refused request\#
        , as `X-Request-Id` had it, or the id of a trace, whose newest refusal is given.","schema":{"type":"string",\#
        "minLength":1},"example":"5f0c2b7e91d3a846"},\#
        "Since":{"name":"since","in":"query","description":"Only steps that end after this time, in seconds since 19\#
        70.","schema":{"type":"number","minimum":0}},\#
        "RefusalLimit":{"name":"limit","in":"query","description":"How many refusals a page has; 50 unless given.","\#
        schema":{"type":"integer","minimum":1,"maximum":200},"example":50},\#
        "Before":{"name":"before","in":"query","description":"`next` of the page before.","schema":{"type":"string",\#
        "pattern":"^[0-9]{1,20}$"}},\#
        "RefusalCode":{"name":"code","in":"query","description":"Only refusals with this code.","schema":{"type":"st\#
        ring","minLength":1,"maxLength":64},"example":"token_expired"},\#
        "LedgerRequest":{"name":"request","in":"query","description":"The id of a request.","schema":{"type":"string\#
        ","minLength":1,"maxLength":200}},\#
        "LedgerLicense":{"name":"license","in":"query","description":"The licence, or the one that a renewal follows\#
        : the 32 hexadecimal digits of `X-License-Id`.","schema":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"ex\#
        ample":"018bcfe568fa00000000000000000001"},\#
        "LedgerDevice":{"name":"device","in":"query","description":"The HU of a device, or its pseudonym as lists sh\#
        ow it, or `pseudonym:` and the digits of an entry.","schema":{"type":"string","minLength":1,"maxLength":200}\#
        },\#
        "LedgerPlayback":{"name":"playback","in":"query","description":"The id of a playback session that its devic\#
        e has reported as ended.","schema":{"type":"string","minLength":1,"maxLength":200}},\#
        "LedgerContent":{"name":"content","in":"query","description":"The content id.","schema":{"type":"string","mi\#
        nLength":1,"maxLength":200},"example":"movie-42"},\#
        "LedgerKey":{"name":"key","in":"query","description":"The id of a content key.","schema":{"type":"string","p\#
        attern":"^[0-9A-Fa-f-]{32,36}$"}},\#
        "LedgerLimit":{"name":"limit","in":"query","description":"How many entries a page has at most; 50 unless giv\#
        en.","schema":{"type":"integer","minimum":1,"maximum":200},"example":50},\#
        "AfterSequence":{"name":"after","in":"query","description":"`next` of the page before.","schema":{"type":"st\#
        ring","pattern":"^[0-9]{1,19}$"}},\#
        "ContentLimit":{"name":"limit","in":"query","description":"How many contents a page has; 25 unless given.","\#
        schema":{"type":"integer","minimum":1,"maximum":100},"example":25},\#
        "AfterContent":{"name":"after","in":"query","description":"`next` of the page before.","schema":{"type":"str\#
        ing","pattern":"^[!-~]{1,200}$"}},\#
        "ContentPrefix":{"name":"prefix","in":"query","description":"How the content ids begin.","schema":{"type":"s\#
        tring","pattern":"^[!-~]{1,200}$"},"example":"movie-"},\#
        "ContentKeyLimit":{"name":"limit","in":"query","description":"How many keys a page has; 100 unless given.","\#
        schema":{"type":"integer","minimum":1,"maximum":500},"example":100},\#
        "AfterContentKey":{"name":"after","in":"query","description":"`next` of the page before.","schema":{"type":"\#
        string","pattern":"^[0-9A-Fa-f-]{32,36}$"}},\#
        "KeyFormat":{"name":"format","in":"query","description":"The form of a packager.","schema":{"enum":["json","\#
        shaka","shaka-streamer","bento4","bento4-dash","bento4-hls","gpac","nginx-vod","wowza","usp","mediaconvert",\#
        "bitmovin","mediafilesegmenter","cpix","hls"]},"example":"shaka"},\#
        "TrackLabel":{"name":"track","in":"query","description":"Only keys of this label.","schema":{"type":"string"\#
        ,"minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},"example":"HD"},\#
        "Period":{"name":"period","in":"query","description":"Only keys of this period.","schema":{"type":"integer",\#
        "minimum":0,"maximum":4294967295},"example":7},\#
        "AfterKey":{"name":"after","in":"query","description":"The key id behind which the page begins.","schema":{"\#
        type":"string","format":"uuid"}},\#
        "KeyLimit":{"name":"limit","in":"query","description":"How many keys a page has.","schema":{"type":"integer"\#
        ,"minimum":1,"maximum":64},"example":64},\#
        "Subject":{"name":"subject","in":"query","description":"The subject of tokens, or its pseudonym as lists sho\#
        w it.","schema":{"type":"string","minLength":1,"maxLength":200},"example":"viewer-7"},\#
        "Issuer":{"name":"issuer","in":"query","description":"The issuer of the subject. It may be left out if ther\#
        e is only one.","schema":{"type":"string"}},\#
        "Cookie":{"name":"cookie","in":"query","description":"A `customerCookie` of ExpressPlay, in place of `subjec\#
        t`.","schema":{"type":"string","minLength":1,"maxLength":32}},\#
        "Customer":{"name":"customer","in":"query","description":"The customer of the cookie.","schema":{"type":"str\#
        ing"}},\#
        "PageLimit":{"name":"limit","in":"query","description":"How many elements a page has; 100 unless given.","sc\#
        hema":{"type":"integer","minimum":1,"maximum":1000},"example":100},\#
        "After":{"name":"after","in":"query","description":"`next` of the page before.","schema":{"type":"string"}},\#
        "All":{"name":"all","in":"query","description":"Selects everything of the subject.","schema":{"const":"true"\#
        },"example":"true"},\#
        "DeviceName":{"name":"device","in":"query","description":"The device: its HU, or its pseudonym as a list sho\#
        ws it.","schema":{"type":"string"}},\#
        "PlaybackName":{"name":"playback","in":"query","description":"The playback, as a list shows it.","schema":{"\#
        type":"string"}},\#
        "ContentName":{"name":"content","in":"query","description":"The content.","schema":{"type":"string"}},\#
        "RevocationKind":{"name":"kind","in":"query","description":"What kind of value is given back.","schema":{"en\#
        um":["jti","kid","iss","sub","hu","device","content","session"]},"required":true,"example":"sub"},\#
        "RevocationValue":{"name":"value","in":"query","description":"The value, as a list shows it.","schema":{"typ\#
        e":"string","minLength":1,"maxLength":200},"required":true,"example":"viewer-7"},\#
        "RevocationIssuer":{"name":"issuer","in":"query","description":"The issuer of a `jti`, `sub`, `device` or `s\#
        ession`. It may be left out if there is only one.","schema":{"type":"string"}},\#
        "SPEKEVersion":{"name":"X-Speke-Version","in":"header","description":"The version of SPEKE, with which pat\#
        h and document must agree. SPEKE v1 has no such field.","schema":{"enum":["2.0","2.1"]},"example":"2.0"},\#
        "FormErrorFormat":{"name":"errorFormat","in":"query","description":"As the member `errorFormat` of the form.\#
        ","schema":{"enum":["html","json"]}},\#
        "FormGeneralFlags":{"name":"generalFlags","in":"query","description":"As the member `generalFlags` of the fo\#
        rm.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})$"}},\#
        "FormContentKey":{"name":"contentKey","in":"query","description":"As the member `contentKey` of the form.","\#
        schema":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"}},\#
        "FormKek":{"name":"kek","in":"query","description":"As the member `kek` of the form.","schema":{"type":"stri\#
        ng","pattern":"^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9A-Fa-f]{64})$"}},\#
        "FormEk":{"name":"ek","in":"query","description":"As the member `ek` of the form.","schema":{"type":"string"\#
        ,"pattern":"^[0-9A-Fa-f]{48}$"}},\#
        "FormKid":{"name":"kid","in":"query","description":"As the member `kid` of the form.","schema":{"type":"stri\#
        ng","pattern":"^([0-9A-Fa-f]{32}|\\^[!-~]{1,64})$"}},\#
        "FormIv":{"name":"iv","in":"query","description":"As the member `iv` of the form.","schema":{"type":"string"\#
        ,"pattern":"^[0-9A-Fa-f]{32}$"}},\#
        "FormRentalDuration":{"name":"rentalDuration","in":"query","description":"As the member `rentalDuration` o\#
        f the form.","schema":{"type":"integer","minimum":0,"maximum":4294967294}},\#
        "FormFpExtension":{"name":"fpExtension","in":"query","description":"As the member `fpExtension` of the form.\#
        ","schema":{"type":"string"}},\#
        "FormExpirationTime":{"name":"expirationTime","in":"query","description":"RFC 3339 in UTC, or `+` and second\#
        s; 30 days at most.","schema":{"type":"string"}},\#
        "FormCookie":{"name":"cookie","in":"query","description":"As the member `cookie` of the form.","schema":{"ty\#
        pe":"string","maxLength":32}},\#
        "FormLatchkeylease":{"name":"latchkey.lease","in":"query","description":"As the member `latchkey.lease` of t\#
        he form.","schema":{"type":"integer","minimum":1,"maximum":4294967294}},\#
        "FormLatchkeydevice":{"name":"latchkey.device","in":"query","description":"As the member `latchkey.device` o\#
        f the form.","schema":{"type":"string"}},\#
        "FormLatchkeybind":{"name":"latchkey.bind","in":"query","description":"As the member `latchkey.bind` of th\#
        e form.","schema":{"enum":["first","none"]}},\#
        "FormLatchkeyuses":{"name":"latchkey.uses","in":"query","description":"As the member `latchkey.uses` of th\#
        e form.","schema":{"type":"integer","minimum":1,"maximum":4294967295}},\#
        "FormLatchkeyhdcp":{"name":"latchkey.hdcp","in":"query","description":"As the member `latchkey.hdcp` of th\#
        e form.","schema":{"enum":["none","type0","type1"]}},\#
        "FormRightsType":{"name":"rightsType","in":"query","description":"As the member `rightsType` of the form.","\#
        schema":{"enum":["BuyToOwn","Rental"]}},\#
        "FormRentalperiodEndTime":{"name":"rental.periodEndTime","in":"query","description":"As the member `rental.p\#
        eriodEndTime` of the form.","schema":{"type":"string"}},\#
        "FormRentalplayDuration":{"name":"rental.playDuration","in":"query","description":"As the member `rental.pla\#
        yDuration` of the form.","schema":{"type":"integer","minimum":0}},\#
        "FormAnalogVideoOPL":{"name":"analogVideoOPL","in":"query","description":"As the member `analogVideoOPL` o\#
        f the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormCompressedDigitalAudioOPL":{"name":"compressedDigitalAudioOPL","in":"query","description":"As the membe\#
        r `compressedDigitalAudioOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormCompressedDigitalVideoOPL":{"name":"compressedDigitalVideoOPL","in":"query","description":"As the membe\#
        r `compressedDigitalVideoOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormUncompressedDigitalAudioOPL":{"name":"uncompressedDigitalAudioOPL","in":"query","description":"As the m\#
        ember `uncompressedDigitalAudioOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormUncompressedDigitalVideoOPL":{"name":"uncompressedDigitalVideoOPL","in":"query","description":"As the m\#
        ember `uncompressedDigitalVideoOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormPrFlag":{"name":"prFlag","in":"query","description":"As the member `prFlag` of the form.","schema":{"ty\#
        pe":"string","pattern":"^[0-9A-Fa-f]{8}$"}},\#
        "FormUseHttps":{"name":"useHttps","in":"query","description":"As the member `useHttps` of the form.","schema\#
        ":{"enum":["true","false","1","0"]}},\#
        "SPEKEVersion20":{"name":"X-Speke-Version","in":"header","required":true,"description":"The version of SPEKE\#
        .","schema":{"const":"2.0"},"example":"2.0"},\#
        "SPEKEVersion21":{"name":"X-Speke-Version","in":"header","required":true,"description":"The version of SPEKE\#
        .","schema":{"const":"2.1"},"example":"2.1"}},\#
        "requestBodies":{"LicenceRequest":{"description":"An SPC in any shape that players send. The body alone deci\#
        des what it is; of `Content-Type` only the boundary of a multipart body is read.","required":true,"content":\#
        {"application/octet-stream":{"schema":{"$ref":"#/components/schemas/SPC"}},"application/x-www-form-urlencode\#
        d":{"schema":{"$ref":"#/components/schemas/LicenceForm"}},"multipart/form-data":{"schema":{"$ref":"#/compone\#
        nts/schemas/LicenceParts"}},"text/plain":{"schema":{"$ref":"#/components/schemas/Base64SPC"},"example":"AAAA\#
        AQ=="},"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/LicenceObject"},{"$ref":"#/compo\#
        nents/schemas/GetFairplayLicense"},{"$ref":"#/components/schemas/KeyRequestArray"},{"$ref":"#/components/sch\#
        emas/StreamingKeysRequest"}]}},"application/x-plist":{"schema":{"$ref":"#/components/schemas/SessionReport"}\#
        },"text/xml":{"schema":{"$ref":"#/components/schemas/PropertyListText"}}}}},\#
        "headers":{"RequestId":{"description":"The id of the request, by which the log and `GET /v1/refusals/{reques\#
        tId}` know it.","required":true,"schema":{"type":"string","pattern":"^[0-9a-f]{16}$"},"example":"5f0c2b7e91d\#
        3a846"},\#
        "ErrorCode":{"description":"The code of the refusal, for clients that drop bodies. At addresses of ExpressPl\#
        ay's back ends it may be ExpressPlay's number.","required":false,"schema":{"type":"string","minLength":1},"e\#
        xample":"token_missing"},\#
        "Challenge":{"description":"Which credentials are accepted: `Bearer`, and for packagers `Basic`.","schema":{\#
        "type":"string"},"example":"Bearer"},\#
        "RetryAfter":{"description":"The least wait in seconds. Not every refusal has one.","schema":{"type":"intege\#
        r","minimum":0},"example":2},\#
        "CacheControl":{"description":"How long caches may keep the answer.","schema":{"type":"string"},"example":"n\#
        o-store"},\#
        "LicenseId":{"description":"The id of the licence.","schema":{"type":"string"},"example":"AZq0Zk1vcPOBkXvS0h\#
        E8nQ"},\#
        "LicenseType":{"description":"The validity of the licence.","schema":{"type":"string"},"example":"lease"},\#
        "LicenseIssued":{"description":"When the licence was issued, in seconds since 1970.","schema":{"type":"integ\#
        er"},"example":1769860800},\#
        "LicenseExpires":{"description":"When the licence ends, in seconds since 1970. Absent if it has no end.","sc\#
        hema":{"type":"integer"},"example":1769861100},\#
        "LicenseRenewAfter":{"description":"When to ask for a renewal, in seconds since 1970. Absent if there is not\#
        hing to renew.","schema":{"type":"integer"},"example":1769861000},\#
        "SessionToken":{"description":"The token to present for the next renewal. Absent if there is nothing to rene\#
        w.","schema":{"type":"string"}},\#
        "ETag":{"description":"A strong entity tag, which differs from format to format.","schema":{"type":"string"}\#
        ,"example":"\"0f3a\""},\#
        "Link":{"description":"The address of the next page with `rel=\"next\"`. Absent on the last page.","schema":\#
        {"type":"string"}},\#
        "Allow":{"description":"The methods of the address.","schema":{"type":"string"},"example":"GET, HEAD, OPTION\#
        S"},\#
        "SessionCookie":{"description":"The cookie of a session of the operator's page.","required":true,"schema":{"\#
        type":"string","pattern":"; Path=/; HttpOnly; SameSite=Strict"}},\#
        "AllowOrigin":{"description":"The origins whose pages may read the answer. Absent for other origins.","schem\#
        a":{"type":"string"}},\#
        "SPEKEVersion":{"description":"The version of SPEKE. Absent for SPEKE v1.","schema":{"enum":["2.0","2.1"]},"\#
        example":"2.0"},\#
        "SPEKEUserAgent":{"description":"The name of this server. SPEKE v1 calls the field `Speke-User-Agent`.","sch\#
        ema":{"type":"string"}}},\#
        "responses":{"Certificate":{"description":"The certificates, in the form that the query or the path names.",\#
        "headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/he\#
        aders/CacheControl"},"ETag":{"$ref":"#/components/headers/ETag"}},"content":{"application/octet-stream":{"sc\#
        hema":{"description":"DER; of a bundle one behind the other.","type":"string","contentMediaType":"applicatio\#
        n/octet-stream"}},"text/plain; charset=utf-8":{"schema":{"$ref":"#/components/schemas/CertificateBase64"}},"\#
        application/x-pem-file":{"schema":{"type":"string","pattern":"^-----BEGIN CERTIFICATE-----"}},"application/j\#
        son":{"schema":{"type":"object","required":["certificate"],"properties":{"certificate":{"type":"string","con\#
        tentEncoding":"base64","minLength":1}},"additionalProperties":false}}}},\#
        "CertificateNotModified":{"description":"The client has this certificate.","headers":{"X-Request-Id":{"$ref"\#
        :"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"ETag":{"$re\#
        f":"#/components/headers/ETag"}}},\#
        "ExpressPlay400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"ap\#
        plication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"text/html; charset=utf-8":{"s\#
        chema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/s\#
        chemas/ExpressPlayError"}}}},\#
        "ExpressPlay401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id"\#
        :{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Aut\#
        henticate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref\#
        ":"#/components/schemas/Problem401"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/Exp\#
        ressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id"\#
        :{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-A\#
        fter":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#\#
        /components/schemas/Problem403"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/Express\#
        PlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{\#
        "application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"text/html; charset=utf-8":\#
        {"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/component\#
        s/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":\#
        "#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appl\#
        ication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"text/html; charset=utf-8":{"sch\#
        ema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/sch\#
        emas/ExpressPlayError"}}}},\#
        "ExpressPlay413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+j\#
        son":{"schema":{"$ref":"#/components/schemas/Problem413"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/c\#
        omponents/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayE\#
        rror"}}}},\#
        "ExpressPlay422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-\#
        Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"con\#
        tent":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/html; charset=\#
        utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/co\#
        mponents/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X\#
        -Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCod\#
        e"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema\#
        ":{"$ref":"#/components/schemas/Problem429"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/sch\#
        emas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+j\#
        son":{"schema":{"$ref":"#/components/schemas/Problem500"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/c\#
        omponents/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayE\#
        rror"}}}},\#
        "ExpressPlay503":{"description":"Something that the server depends on does not answer. Try again later.","he\#
        aders":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/header\#
        s/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json\#
        ":{"schema":{"$ref":"#/components/schemas/Problem503"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/comp\#
        onents/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayErro\#
        r"}}}},\#
        "FilledCPIX":{"description":"The same document with keys.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"X-Speke-Version":{"$ref":"#\#
        /components/headers/SPEKEVersion"},"X-Speke-User-Agent":{"$ref":"#/components/headers/SPEKEUserAgent"}},"con\#
        tent":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}},\#
        "Licence":{"description":"The licence, in the shape that the player reads; or, in shapes with a result for e\#
        ach key, each key's result. A report of ended sessions is answered with the word `acknowledged`.","headers":\#
        {"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/Cach\#
        eControl"},"X-License-Id":{"$ref":"#/components/headers/LicenseId"},"X-License-Type":{"$ref":"#/components/h\#
        eaders/LicenseType"},"X-License-Issued":{"$ref":"#/components/headers/LicenseIssued"},"X-License-Expires":{"\#
        $ref":"#/components/headers/LicenseExpires"},"X-License-Renew-After":{"$ref":"#/components/headers/LicenseRe\#
        newAfter"},"X-Session-Token":{"$ref":"#/components/headers/SessionToken"}},"content":{"application/octet-str\#
        eam":{"schema":{"description":"The bytes of the CKC.","type":"string","contentMediaType":"application/octet-\#
        stream"}},"text/plain; charset=utf-8":{"schema":{"description":"The Base64 of the CKC, `<ckc>` and `</ckc>\#
        ` around it, or `acknowledged`.","type":"string","minLength":1}},"application/json":{"schema":{"$ref":"#/com\#
        ponents/schemas/LicenceJSON"}}}},\#
        "Player400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/\#
        components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applica\#
        tion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"application/json":{"schema":{"$ref\#
        ":"#/components/schemas/NAGRAProblem400"}}}},\#
        "Player401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$r\#
        ef":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenti\#
        cate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/\#
        components/schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem401"\#
        }}}},\#
        "Player403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$r\#
        ef":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After"\#
        :{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/comp\#
        onents/schemas/Problem403"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem403"}}}}\#
        ,\#
        "Player404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":\#
        "#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appl\#
        ication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"application/json":{"schema":{"$\#
        ref":"#/components/schemas/NAGRAProblem404"}}}},\#
        "Player409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicati\#
        on/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"application/json":{"schema":{"$ref":\#
        "#/components/schemas/NAGRAProblem409"}}}},\#
        "Player422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":{\#
        "$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content"\#
        :{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"application/json":{"sche\#
        ma":{"$ref":"#/components/schemas/NAGRAProblem422"}}}},\#
        "Player429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Requ\#
        est-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"\#
        Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$\#
        ref":"#/components/schemas/Problem429"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAPro\#
        blem429"}}}},\#
        "Player500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/\#
        RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":\#
        {"schema":{"$ref":"#/components/schemas/Problem500"}},"application/json":{"schema":{"$ref":"#/components/sch\#
        emas/NAGRAProblem500"}}}},\#
        "Player503":{"description":"Something that the server depends on does not answer. Try again later.","headers\#
        ":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Err\#
        orCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"s\#
        chema":{"$ref":"#/components/schemas/Problem503"}},"application/json":{"schema":{"$ref":"#/components/schema\#
        s/NAGRAProblem503"}}}},\#
        "Preflight":{"description":"The methods of the address, or every method if nothing is there. The `Access-Con\#
        trol` fields are there for pages that may read answers.","headers":{"Allow":{"$ref":"#/components/headers/Al\#
        low"},"Access-Control-Allow-Origin":{"$ref":"#/components/headers/AllowOrigin"}}},\#
        "Problem400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}}}},\#
        "Problem401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authent\#
        icate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#\#
        /components/schemas/Problem401"}}}},\#
        "Problem403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After\#
        ":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/com\#
        ponents/schemas/Problem403"}}}},\#
        "Problem404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref"\#
        :"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"app\#
        lication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}}}},\#
        "Problem408":{"description":"The request did not arrive in time. The connection closes.","headers":{"X-Reque\#
        st-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"\#
        content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem408"}}}},\#
        "Problem409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/c\#
        omponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicat\#
        ion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}}}},\#
        "Problem413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components/headers\#
        /RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json"\#
        :{"schema":{"$ref":"#/components/schemas/Problem413"}}}},\#
        "Problem414":{"description":"The request target is too long.","headers":{"X-Request-Id":{"$ref":"#/component\#
        s/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/prob\#
        lem+json":{"schema":{"$ref":"#/components/schemas/Problem414"}}}},\#
        "Problem415":{"description":"The body has a media type that is not read.","headers":{"X-Request-Id":{"$ref":\#
        "#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appl\#
        ication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem415"}}}},\#
        "Problem417":{"description":"No expectation but 100-continue is served.","headers":{"X-Request-Id":{"$ref":"\#
        #/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appli\#
        cation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem417"}}}},\#
        "Problem429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Req\#
        uest-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},\#
        "Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"\#
        $ref":"#/components/schemas/Problem429"}}}},\#
        "Problem431":{"description":"The request head is too large.","headers":{"X-Request-Id":{"$ref":"#/components\#
        /headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/probl\#
        em+json":{"schema":{"$ref":"#/components/schemas/Problem431"}}}},\#
        "Problem500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers\#
        /RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json"\#
        :{"schema":{"$ref":"#/components/schemas/Problem500"}}}},\#
        "Problem501":{"description":"The method or the transfer coding is not served.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{\#
        "application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem501"}}}},\#
        "Problem503":{"description":"Something that the server depends on does not answer. Try again later.","header\#
        s":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Er\#
        rorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"\#
        schema":{"$ref":"#/components/schemas/Problem503"}}}},\#
        "Problem505":{"description":"This HTTP version is not served.","headers":{"X-Request-Id":{"$ref":"#/componen\#
        ts/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/pro\#
        blem+json":{"schema":{"$ref":"#/components/schemas/Problem505"}}}},\#
        "SEES400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicati\#
        on/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"application/json":{"schema":{"$ref":\#
        "#/components/schemas/SEESAnswer"}}}},\#
        "SEES401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authentica\#
        te":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/co\#
        mponents/schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},\#
        "SEES403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{\#
        "$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compon\#
        ents/schemas/Problem403"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},\#
        "SEES404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"application/json":{"schema":{"$re\#
        f":"#/components/schemas/SEESAnswer"}}}},\#
        "SEES429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Reques\#
        t-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Re\#
        try-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$re\#
        f":"#/components/schemas/Problem429"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer\#
        "}}}},\#
        "SEES500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Re\#
        questId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"\#
        schema":{"$ref":"#/components/schemas/Problem500"}},"application/json":{"schema":{"$ref":"#/components/schem\#
        as/SEESAnswer"}}}},\#
        "SEES503":{"description":"Something that the server depends on does not answer. Try again later.","headers":\#
        {"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Error\#
        Code"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"sch\#
        ema":{"$ref":"#/components/schemas/Problem503"}},"application/json":{"schema":{"$ref":"#/components/schemas/\#
        SEESAnswer"}}}},\#
        "SPEKE400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/c\#
        omponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicat\#
        ion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"text/plain; charset=utf-8":{"schema\#
        ":{"type":"string"}}}},\#
        "SPEKE401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$re\#
        f":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authentic\#
        ate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/c\#
        omponents/schemas/Problem401"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},\#
        "SPEKE403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$re\#
        f":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":\#
        {"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compo\#
        nents/schemas/Problem403"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},\#
        "SPEKE409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/com\#
        ponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicatio\#
        n/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"text/plain; charset=utf-8":{"schema":\#
        {"type":"string"}}}},\#
        "SPEKE413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components/headers/R\#
        equestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{\#
        "schema":{"$ref":"#/components/schemas/Problem413"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}\#
        }}},\#
        "SPEKE415":{"description":"The body has a media type that is not read.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem415"}},"text/plain; charset=utf-8":{"sche\#
        ma":{"type":"string"}}}},\#
        "SPEKE422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":{"\#
        $ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":\#
        {"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/plain; charset=utf-8\#
        ":{"schema":{"type":"string"}}}},\#
        "SPEKE429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Reque\#
        st-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"R\#
        etry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$r\#
        ef":"#/components/schemas/Problem429"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},\#
        "SPEKE500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/R\#
        equestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{\#
        "schema":{"$ref":"#/components/schemas/Problem500"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}\#
        }}},\#
        "SPEKE503":{"description":"Something that the server depends on does not answer. Try again later.","headers"\#
        :{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Erro\#
        rCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"sc\#
        hema":{"$ref":"#/components/schemas/Problem503"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}}\#
        },\#
        "schemas":{"ErrorCode":{"description":"The codes of refusals. They do not change between versions. Their sta\#
        tuses are in the schemas `Problem400` and so on.","type":"string","enum":["body_empty","body_unrecognised","\#
        spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown",\#
        "spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown",\#
        "kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer"\#
        ,"token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","c\#
        ontent_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","c\#
        oncurrency_limit","session_expired","session_killed","key_not_found","key_store_timeout","admin_token_invali\#
        d","admin_role_missing","admin_origin_refused","packager_invalid","packager_forbidden","cpix_rejected","medi\#
        a_type_unsupported","key_conflict","key_lost","rate_limited","overloaded","entitlement_denied","entitlement_\#
        unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavai\#
        lable","not_found","method_not_allowed","bad_request","request_timeout","body_too_large","uri_too_long","hea\#
        d_too_large","expectation_failed","not_implemented","version_not_supported","internal"]},\#
        "Problem":{"type":"object","required":["type","title","status","detail","code","request_id","server_time","h\#
        int"],"properties":{"type":{"type":"string","format":"uri","description":"`urn:latchkey:error:` and the code\#
        , or a type of DASH-IF."},"title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},"\#
        code":{"$ref":"#/components/schemas/ErrorCode"},"request_id":{"type":"string","pattern":"^[0-9a-f]{16}$"},"s\#
        erver_time":{"type":"string","format":"date-time"},"hint":{"type":"string","description":"What to do about i\#
        t."},"retry_after":{"type":"integer","minimum":0,"description":"The least wait in seconds."},"expired_ago":{\#
        "type":"integer","description":"Of `token_expired`, in seconds."},"valid_in":{"type":"integer","description"\#
        :"Of `token_not_yet`, in seconds."},"claim":{"type":"string","description":"Of `token_schema`."},"current":{\#
        "type":"integer","description":"Of `concurrency_limit`: playbacks that run."},"max":{"type":"integer","descr\#
        iption":"Of `concurrency_limit`: playbacks that may run."},"term":{"type":"string","description":"Of `terms_\#
        not_expressible`: what the device cannot be told."},"parameter":{"type":"string","description":"Of `bad_requ\#
        est`: the part of the query that is not readable."},"member":{"type":"string","description":"Of `bad_request\#
        ` at `/v1/keys`: the part of the body or of the query that is wrong."},"header":{"type":"string","descriptio\#
        n":"Of `token_missing`: a header that is not read and looks as if it had a token."},"certificate_hash":{"typ\#
        e":"string","description":"Of `spc_certificate_unknown`."},"held_hashes":{"type":"string","description":"O\#
        f `spc_certificate_unknown`."}},"description":"A refusal (RFC 9457).","example":{"type":"urn:latchkey:error:\#
        right_ended","title":"The right has ended","status":403,"detail":"The right has ended.","code":"right_ended"\#
        ,"request_id":"5f0c2b7e91d3a846","server_time":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a righ\#
        t that has not ended."}},\#
        "NAGRAProblem":{"description":"A refusal for clients of NAGRA's dialect: the members of `Problem` after a nu\#
        mber.","allOf":[{"$ref":"#/components/schemas/Problem"}],"required":["errorCode"],"properties":{"errorCode":\#
        {"type":"integer"}},"example":{"errorCode":4000,"type":"urn:latchkey:error:right_ended","title":"The right h\#
        as ended","status":403,"detail":"The right has ended.","code":"right_ended","request_id":"5f0c2b7e91d3a846",\#
        "server_time":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a right that has not ended."}},\#
        "ExpressPlayCode":{"description":"ExpressPlay's numbers.","type":"integer","enum":[-2002,-2003,-2005,-2008,-\#
        2017,-2018,-2019,-2020,-2021,-2022,-2023,-2025,-2027,-2030,-2031,-2033,-2034,-2035,-2036,-2037,-2040,-3004,-\#
        4001,-4010,-4018,-4019,-4020,-4021,-4022,-4024,-5003,-6001,-6003,-6004,-6005,-6007,-6008]},\#
        "ExpressPlayError":{"type":"object","required":["errorMessage","eventId"],"properties":{"errorCode":{"$ref":\#
        "#/components/schemas/ExpressPlayCode"},"errorMessage":{"type":"string"},"eventId":{"type":"string","pattern\#
        ":"^[0-9a-f]{16}$"}},"additionalProperties":false,"description":"A refusal in ExpressPlay's manner. It has n\#
        o number for what only HTTP knows.","example":{"errorCode":-2018,"errorMessage":"customerAuthenticator is no\#
        t known in this environment.","eventId":"5f0c2b7e91d3a846"}},\#
        "ExpressPlayPage":{"description":"The same as a page.","type":"string","pattern":"^<!DOCTYPE html>"},\#
        "SPC":{"description":"The bytes of an SPC, as the player made them.","type":"string","contentMediaType":"app\#
        lication/octet-stream"},\#
        "Base64SPC":{"type":"string","contentEncoding":"base64","minLength":1,"description":"The Base64 of an SPC, i\#
        n either alphabet, with padding or without."},\#
        "LicenceForm":{"type":"object","required":["spc"],"properties":{"spc":{"$ref":"#/components/schemas/Base64SP\#
        C"},"assetId":{"type":"string"},"token":{"type":"string","description":"Counts if `entitlement.tokenInBody\#
        ` is set."}},"example":{"spc":"AAAAAQ==","assetId":"movie-42"}},\#
        "LicenceParts":{"type":"object","required":["spc"],"properties":{"spc":{"type":"string","contentMediaType":"\#
        application/octet-stream","description":"The SPC, as bytes or in Base64."},"assetId":{"type":"string"},"toke\#
        n":{"type":"string"}}},\#
        "LicenceObject":{"description":"An object with the SPC under one of the names that players use.","type":"obj\#
        ect","oneOf":[{"required":["spc"]},{"required":["spcMessage"]},{"required":["SpcMessage"]},{"required":["spc\#
        Data"]},{"required":["payload"]},{"required":["licenseChallenge"]},{"required":["server_playback_context"]}]\#
        ,"properties":{"spc":{"$ref":"#/components/schemas/Base64SPC"},"spcMessage":{"$ref":"#/components/schemas/Ba\#
        se64SPC"},"SpcMessage":{"$ref":"#/components/schemas/Base64SPC"},"spcData":{"$ref":"#/components/schemas/Bas\#
        e64SPC"},"payload":{"$ref":"#/components/schemas/Base64SPC"},"licenseChallenge":{"$ref":"#/components/schema\#
        s/Base64SPC"},"server_playback_context":{"$ref":"#/components/schemas/Base64SPC"},"assetId":{"type":"string"\#
        },"contentId":{"type":"string"},"uri":{"type":"string"},"token":{"type":"string"}},"example":{"spc":"AAAAAQ=\#
        =","assetId":"movie-42"}},\#
        "GetFairplayLicense":{"type":"object","required":["getFairplayLicense"],"properties":{"getFairplayLicense":{\#
        "type":"object","required":["spcMessage"],"properties":{"spcMessage":{"$ref":"#/components/schemas/Base64SPC\#
        "},"assetId":{"type":"string"},"contentId":{"type":"string"},"uri":{"type":"string"}}},"token":{"type":"stri\#
        ng"}},"example":{"getFairplayLicense":{"spcMessage":"AAAAAQ=="}}},\#
        "KeyRequestArray":{"description":"What a browser sends for several keys (EME).","type":"array","minItems":1,\#
        "maxItems":16,"items":{"type":"object","required":["keyID","payload"],"properties":{"keyID":{"type":"string"\#
        ,"maxLength":1024},"payload":{"$ref":"#/components/schemas/Base64SPC"}}},"example":[{"keyID":"movie-42","pay\#
        load":"AAAAAQ=="}]},\#
        "StreamingKeysRequest":{"type":"object","required":["fairplay-streaming-request"],"properties":{"fairplay-st\#
        reaming-request":{"type":"object","required":["streaming-keys"],"properties":{"version":{"type":"integer"},"\#
        create":{"type":["string","number"]},"streaming-keys":{"type":"array","minItems":1,"maxItems":16,"items":{"t\#
        ype":"object","required":["spc"],"properties":{"id":{"type":["string","number"],"description":"Repeated in t\#
        he answer. A text has at most 1,024 bytes."},"uri":{"type":"string"},"spc":{"$ref":"#/components/schemas/Bas\#
        e64SPC"},"offline":{"type":"boolean"}}}}}},"token":{"type":"string"}},"example":{"fairplay-streaming-request\#
        ":{"version":1,"streaming-keys":[{"id":1,"uri":"skd://movie-42","spc":"AAAAAQ=="}]}}},\#
        "SessionReport":{"description":"A property list, binary or XML, with a `PlaybackSessionID` for each playbac\#
        k that has ended.","type":"string","contentMediaType":"application/x-plist"},\#
        "PropertyListText":{"description":"The same as XML.","type":"string"},\#
        "LicenceFacts":{"type":"object","required":["id","type","issued_at","expires_at","renew_after","lease","rent\#
        al","storage_expires_at","playback","persistent"],"properties":{"id":{"type":"string"},"type":{"type":"strin\#
        g","description":"The validity: for example `unlimited`, `lease`, `rental`."},"issued_at":{"type":"integer"}\#
        ,"expires_at":{"type":["integer","null"]},"renew_after":{"type":["integer","null"]},"lease":{"type":["intege\#
        r","null"]},"rental":{"type":["integer","null"]},"storage_expires_at":{"type":["integer","null"]},"playback"\#
        :{"type":["integer","null"]},"persistent":{"type":"boolean","description":"Whether the device keeps the key.\#
        "}},"description":"What is known of a licence. Times are in seconds since 1970, lengths in seconds; null i\#
        f there is no such limit.","example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","type":"lease","issued_at":1769860800,"e\#
        xpires_at":1769861100,"renew_after":1769861000,"lease":300,"rental":null,"storage_expires_at":null,"playback\#
        ":null,"persistent":false}},\#
        "LicenceAnswer":{"type":"object","required":["ckc","license","server_time"],"properties":{"ckc":{"type":"str\#
        ing","contentEncoding":"base64","minLength":1},"session_token":{"type":"string"},"license":{"$ref":"#/compon\#
        ents/schemas/LicenceFacts"},"server_time":{"type":"string","format":"date-time"}},"additionalProperties":fal\#
        se,"description":"`format=json`."},\#
        "NAGRALicenceAnswer":{"type":"object","required":["CkcMessage","license","server_time"],"properties":{"CkcMe\#
        ssage":{"type":"string","contentEncoding":"base64","minLength":1},"sessionToken":{"type":"string"},"license"\#
        :{"$ref":"#/components/schemas/LicenceFacts"},"server_time":{"type":"string","format":"date-time"}},"additio\#
        nalProperties":false,"description":"`format=nagra`."},\#
        "KalturaAnswer":{"type":"object","required":["ckc","persistence_duration"],"properties":{"ckc":{"type":"stri\#
        ng","contentEncoding":"base64","minLength":1},"persistence_duration":{"type":"integer","minimum":0}},"additi\#
        onalProperties":false,"description":"`format=kaltura`, and the answer to plain Base64. For how many second\#
        s from now on a kept key may begin to play."},\#
        "MemberAnswer":{"description":"The CKC under the name that belongs to that of the request.","type":"object",\#
        "minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{"ckc":{"type":"string","conte\#
        ntEncoding":"base64","minLength":1},"ckcMessage":{"type":"string","contentEncoding":"base64","minLength":1},\#
        "CkcMessage":{"type":"string","contentEncoding":"base64","minLength":1},"ckcData":{"type":"string","contentE\#
        ncoding":"base64","minLength":1},"payload":{"type":"string","contentEncoding":"base64","minLength":1}},"exam\#
        ple":{"ckc":"AAAAAQ=="}},\#
        "GetFairplayLicenseAnswer":{"type":"object","required":["getFairplayLicenseResponse"],"properties":{"getFair\#
        playLicenseResponse":{"type":"object","required":["ckcResponse"],"properties":{"ckcResponse":{"type":"string\#
        ","contentEncoding":"base64","minLength":1}},"additionalProperties":false}},"additionalProperties":false},\#
        "AppleStatus":{"description":"The status of a key that is refused, as Apple numbers it.","type":"integer","e\#
        num":[-42580,-42581,-42584,-42585,-42601,-42604,-42605]},\#
        "KeyAnswerArray":{"description":"A licence or a number for each key, in the order of the request.","type":"a\#
        rray","minItems":1,"maxItems":16,"items":{"type":"object","oneOf":[{"required":["payload"]},{"required":["er\#
        ror"]}],"properties":{"keyID":{"type":"string"},"payload":{"type":"string","contentEncoding":"base64","minLe\#
        ngth":1},"error":{"$ref":"#/components/schemas/AppleStatus"}},"additionalProperties":false}},\#
        "StreamingKeysAnswer":{"type":"object","required":["fairplay-streaming-response"],"properties":{"fairplay-st\#
        reaming-response":{"type":"object","required":["streaming-keys"],"properties":{"streaming-keys":{"type":"arr\#
        ay","minItems":1,"maxItems":16,"items":{"type":"object","required":["status"],"additionalProperties":false,"\#
        properties":{"id":{"type":["string","number"]},"status":{"description":"0 for success, or one of the number\#
        s of `AppleStatus`.","enum":[0,-42580,-42581,-42584,-42585,-42601,-42604,-42605]},"ckc":{"type":"string","co\#
        ntentEncoding":"base64","minLength":1},"renew-after":{"type":"integer","minimum":0},"lease-expiry-time":{"ty\#
        pe":"integer","minimum":0},"session-token":{"type":"string"},"playback":{"const":"ended"},"offline-sync":{"t\#
        ype":"object","required":["version","duration-to-expiry"],"properties":{"version":{"enum":[1,2]},"duration-t\#
        o-expiry":{"type":"integer"},"content-id":{"type":"string"},"server-challenge":{"type":"string","pattern":"^\#
        [0-9a-f]{16}$"},"flags":{"type":"object","additionalProperties":{"type":"boolean"}},"title-id":{"type":"stri\#
        ng"},"records-invalidated":{"type":"integer"},"invalidated-stream-ids":{"type":"array","items":{"type":"stri\#
        ng"}}}},"expiresInSeconds":{"type":["integer","null"]},"expirationDate":{"type":["string","null"],"format":"\#
        date-time"},"challengeAccepted":{"type":"boolean"}}}}},"additionalProperties":false}},"additionalProperties"\#
        :false},\#
        "SyncReport":{"type":"object","required":["offline-sync","expiresInSeconds","expirationDate","challengeAccep\#
        ted"],"properties":{"offline-sync":{"type":"object","required":["version","duration-to-expiry"],"properties"\#
        :{"version":{"enum":[1,2]},"duration-to-expiry":{"type":"integer"},"content-id":{"type":"string"},"server-ch\#
        allenge":{"type":"string","pattern":"^[0-9a-f]{16}$"},"flags":{"type":"object","additionalProperties":{"type\#
        ":"boolean"}},"title-id":{"type":"string"},"records-invalidated":{"type":"integer"},"invalidated-stream-ids"\#
        :{"type":"array","items":{"type":"string"}}}},"expiresInSeconds":{"type":["integer","null"]},"expirationDate\#
        ":{"type":["string","null"],"format":"date-time"},"challengeAccepted":{"type":"boolean"}},"additionalPropert\#
        ies":false,"description":"The answer to a sync SPC: what the device reports."},\#
        "PlaybackEnd":{"type":"object","required":["playback","server_time"],"properties":{"playback":{"const":"ende\#
        d"},"server_time":{"type":"string","format":"date-time"}},"additionalProperties":false,"description":"The an\#
        swer to an SPC whose device says that playback has stopped."},\#
        "LicenceJSON":{"anyOf":[{"$ref":"#/components/schemas/LicenceAnswer"},{"$ref":"#/components/schemas/NAGRALic\#
        enceAnswer"},{"$ref":"#/components/schemas/KalturaAnswer"},{"$ref":"#/components/schemas/MemberAnswer"},{"$r\#
        ef":"#/components/schemas/GetFairplayLicenseAnswer"},{"$ref":"#/components/schemas/KeyAnswerArray"},{"$ref":\#
        "#/components/schemas/StreamingKeysAnswer"},{"$ref":"#/components/schemas/SyncReport"},{"$ref":"#/components\#
        /schemas/PlaybackEnd"}]},\#
        "Problem400":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":400},"code":\#
        {"enum":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported"\#
        ,"spc_malformed","token_ambiguous","token_schema","bad_request"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem400":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        0},"code":{"enum":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_un\#
        supported","spc_malformed","token_ambiguous","token_schema","bad_request"]}},"unevaluatedProperties":false},\#
        "Problem401":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":401},"code":\#
        {"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_\#
        expired","token_not_yet","token_life","token_audience","token_issuer","admin_token_invalid","packager_invali\#
        d"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem401":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        1},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signatur\#
        e","token_expired","token_not_yet","token_life","token_audience","token_issuer","admin_token_invalid","packa\#
        ger_invalid"]}},"unevaluatedProperties":false},\#
        "Problem403":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":403},"code":\#
        {"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_\#
        expired","token_not_yet","token_life","token_audience","token_issuer","token_used","token_revoked","subject_\#
        disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed","right_not_star\#
        ted","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","session_killed","\#
        admin_role_missing","admin_origin_refused","packager_forbidden","entitlement_denied","terms_not_expressible"\#
        ,"security_level"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem403":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        3},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signatur\#
        e","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_used","token_revoked"\#
        ,"subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed","righ\#
        t_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","session\#
        _killed","admin_role_missing","admin_origin_refused","packager_forbidden","entitlement_denied","terms_not_ex\#
        pressible","security_level"]}},"unevaluatedProperties":false},\#
        "Problem404":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":404},"code":\#
        {"enum":["key_not_found","not_found"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem404":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        4},"code":{"enum":["key_not_found","not_found"]}},"unevaluatedProperties":false},\#
        "Problem408":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":408},"code":\#
        {"enum":["request_timeout"]}},"unevaluatedProperties":false},\#
        "Problem409":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":409},"code":\#
        {"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem409":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        9},"code":{"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedProperties":false},\#
        "Problem413":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":413},"code":\#
        {"enum":["body_too_large"]}},"unevaluatedProperties":false},\#
        "Problem414":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":414},"code":\#
        {"enum":["uri_too_long"]}},"unevaluatedProperties":false},\#
        "Problem417":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":417},"code":\#
        {"enum":["expectation_failed"]}},"unevaluatedProperties":false},\#
        "Problem422":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":422},"code":\#
        {"enum":["spc_certificate_unknown","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem422":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":42\#
        2},"code":{"enum":["spc_certificate_unknown","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false\#
        },\#
        "Problem429":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":429},"code":\#
        {"enum":["rate_limited","overloaded"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem429":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":42\#
        9},"code":{"enum":["rate_limited","overloaded"]}},"unevaluatedProperties":false},\#
        "Problem431":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":431},"code":\#
        {"enum":["head_too_large"]}},"unevaluatedProperties":false},\#
        "Problem500":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":500},"code":\#
        {"enum":["internal"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem500":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":50\#
        0},"code":{"enum":["internal"]}},"unevaluatedProperties":false},\#
        "Problem501":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":501},"code":\#
        {"enum":["not_implemented"]}},"unevaluatedProperties":false},\#
        "Problem503":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":503},"code":\#
        {"enum":["key_store_timeout","entitlement_unavailable","storage_unavailable","clock_untrusted","module_unava\#
        ilable"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem503":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":50\#
        3},"code":{"enum":["key_store_timeout","entitlement_unavailable","storage_unavailable","clock_untrusted","mo\#
        dule_unavailable"]}},"unevaluatedProperties":false},\#
        "Problem505":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":505},"code":\#
        {"enum":["version_not_supported"]}},"unevaluatedProperties":false},\#
        "CertificateBase64":{"description":"The Base64 of the same bytes, without a line end.","type":"string","cont\#
        entEncoding":"base64"},\#
        "LicenceState":{"oneOf":[{"allOf":[{"$ref":"#/components/schemas/LicenceFacts"}],"required":["state","kid","\#
        content","renewable"],"properties":{"state":{"enum":["valid","ended","renewed"]},"kid":{"type":["string","nu\#
        ll"]},"content":{"type":["string","null"]},"renewable":{"type":"boolean"}},"unevaluatedProperties":false},{"\#
        type":"object","required":["id","state"],"properties":{"id":{"type":"string"},"state":{"const":"unknown"}},"\#
        additionalProperties":false}],"example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","state":"unknown"}},\#
        "LicenceQuery":{"oneOf":[{"type":"object","required":["licenses"],"properties":{"licenses":{"type":"array","\#
        minItems":1,"maxItems":32,"items":{"type":"string","minLength":1,"maxLength":200}}},"additionalProperties":f\#
        alse},{"type":"object","required":["assets"],"properties":{"assets":{"type":"array","minItems":1,"maxItems":\#
        32,"items":{"type":"string","minLength":2,"maxLength":200}}},"additionalProperties":false}],"example":{"asse\#
        ts":["movie-42"]}},\#
        "LicenceStates":{"oneOf":[{"type":"object","required":["server_time","licenses"],"properties":{"server_time"\#
        :{"type":"string","format":"date-time"},"licenses":{"type":"array","items":{"$ref":"#/components/schemas/Lic\#
        enceState"}}},"additionalProperties":false},{"type":"object","required":["server_time","assets"],"properties\#
        ":{"server_time":{"type":"string","format":"date-time"},"assets":{"type":"array","items":{"type":"object","r\#
        equired":["asset","licenses"],"properties":{"asset":{"type":"string"},"licenses":{"type":"array","items":{"$\#
        ref":"#/components/schemas/LicenceState"}}},"additionalProperties":false}}},"additionalProperties":false}],"\#
        example":{"server_time":"2026-01-31T12:00:00.000Z","assets":[{"asset":"movie-42","licenses":[]}]}},\#
        "Challenge":{"type":"object","required":["challenge","expiresIn"],"properties":{"challenge":{"type":"string"\#
        ,"pattern":"^[0-9a-f]{16}$"},"expiresIn":{"type":"integer","description":"In seconds."}},"additionalProperti\#
        es":false,"example":{"challenge":"00f1e2d3c4b5a697","expiresIn":300}},\#
        "TokenForm":{"description":"The parameters of a token request, in the form or in the query. Those of PlayRea\#
        dy are checked and have no effect.","type":"object","properties":{"customerAuthenticator":{"type":"string"},\#
        "errorFormat":{"enum":["html","json"]},"generalFlags":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-\#
        f]{8})$"},"contentKey":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"kek":{"type":"string","pattern":"^([\#
        0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9A-Fa-f]{64})$"},"ek":{"type":"string","pattern":"^[0-9A-Fa-f]{48}$"},"kid\#
        ":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|\\^[!-~]{1,64})$"},"iv":{"type":"string","pattern":"^[0-9A-F\#
        a-f]{32}$"},"rentalDuration":{"type":"integer","minimum":0,"maximum":4294967294},"fpExtension":{"type":"stri\#
        ng"},"expirationTime":{"type":"string","description":"RFC 3339 in UTC, or `+` and seconds; 30 days at most."\#
        },"cookie":{"type":"string","maxLength":32},"latchkey.lease":{"type":"integer","minimum":1,"maximum":4294967\#
        294},"latchkey.device":{"type":"string"},"latchkey.bind":{"enum":["first","none"]},"latchkey.uses":{"type":"\#
        integer","minimum":1,"maximum":4294967295},"latchkey.hdcp":{"enum":["none","type0","type1"]},"rightsType":{"\#
        enum":["BuyToOwn","Rental"]},"rental.periodEndTime":{"type":"string"},"rental.playDuration":{"type":"integer\#
        ","minimum":0},"analogVideoOPL":{"type":"integer","minimum":0,"maximum":999},"compressedDigitalAudioOPL":{"t\#
        ype":"integer","minimum":0,"maximum":999},"compressedDigitalVideoOPL":{"type":"integer","minimum":0,"maximum\#
        ":999},"uncompressedDigitalAudioOPL":{"type":"integer","minimum":0,"maximum":999},"uncompressedDigitalVideoO\#
        PL":{"type":"integer","minimum":0,"maximum":999},"prFlag":{"type":"string","pattern":"^[0-9A-Fa-f]{8}$"},"us\#
        eHttps":{"enum":["true","false","1","0"]}},"example":{"customerAuthenticator":"201722,0123456789abcdef012345\#
        6789abcdef","kid":"^movie-1","expirationTime":"+300"}},\#
        "SEESQuestion":{"type":"object","required":["messageID","version","requestType","contentID"],"properties":{"\#
        messageID":{"type":"string","format":"uuid"},"version":{"const":1},"requestType":{"enum":[1,2,3],"descriptio\#
        n":"1 for a time, 2 to register the device, 3 for registered devices alone."},"contentID":{"type":"string","\#
        pattern":"^[!-~]{1,200}$"},"customerCookie":{"type":["string","null"],"minLength":1,"maxLength":32,"descript\#
        ion":"Needed for the types 2 and 3."}},"example":{"messageID":"0f8fad5b-d9cb-469f-a165-70867728950e","versio\#
        n":1,"requestType":1,"contentID":"movie-1"}},\#
        "SEESAnswer":{"type":"object","required":["messageID","version","isAllowed","epTokenURL"],"properties":{"mes\#
        sageID":{"type":"string"},"version":{"const":1},"isAllowed":{"type":"boolean"},"epTokenURL":{"type":"string"\#
        },"error":{"$ref":"#/components/schemas/ExpressPlayCode"},"errorText":{"type":"string"}},"additionalProperti\#
        es":false,"description":"Also of questions that are refused: `isAllowed` is false then.","example":{"message\#
        ID":"0f8fad5b-d9cb-469f-a165-70867728950e","version":1,"isAllowed":false,"epTokenURL":"","error":-4019,"erro\#
        rText":"The key store has no such key to give."}},\#
        "CPIXDocument":{"description":"A CPIX document as SPEKE has it, in UTF-8, of at most 256 KiB.","type":"strin\#
        g","minLength":1},\#
        "Problem415":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":415},"code":\#
        {"enum":["media_type_unsupported"]}},"unevaluatedProperties":false},\#
        "TrackOrder":{"anyOf":[{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},{"type":"object",\#
        "required":["track"],"properties":{"track":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$\#
        "},"contentType":{"enum":["audio","sd","hd","uhd",null]},"kid":{"type":["string","null"],"format":"uuid"},"i\#
        v":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"key":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$","des\#
        cription":"Imports a key, which needs the scope `import` and an `iv`."},"hdcp":{"enum":["none","type0","type\#
        1",null]},"securityLevel":{"enum":["audio","baseline","main",null]}},"additionalProperties":false}],"example\#
        ":{"track":"4K","contentType":"uhd"}},\#
        "KeyOrder":{"type":"object","required":["contentId","tracks"],"properties":{"contentId":{"type":"string","pa\#
        ttern":"^[!-~]{1,200}$"},"tracks":{"type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/components/s\#
        chemas/TrackOrder"}},"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1",null]},"period":{"type":["in\#
        teger","null"],"minimum":0,"maximum":4294967295}},"additionalProperties":false,"example":{"contentId":"movie\#
        -1","tracks":["HD","AUDIO"]}},\#
        "DeliveredKeys":{"type":"object","required":["contentId","keys"],"properties":{"contentId":{"type":"string"}\#
        ,"keys":{"type":"array","minItems":1,"items":{"type":"object","required":["kid","track","contentType","perio\#
        d","scheme","key","iv","url","outcome"],"properties":{"kid":{"type":"string","format":"uuid"},"track":{"type\#
        ":["string","null"]},"contentType":{"enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]},"\#
        scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1"]},"key":{"type":"string","pattern":"^[0-9a-f]{32}$\#
        "},"iv":{"type":"string","pattern":"^[0-9a-f]{32}$"},"url":{"type":"string"},"outcome":{"enum":["created","f\#
        ound","imported"]}},"additionalProperties":false}}},"additionalProperties":false},\#
        "KeyPage":{"type":"object","required":["contentId","keys","next"],"properties":{"contentId":{"type":"string"\#
        },"keys":{"type":"array","items":{"type":"object","required":["kid","track","contentType","period","scheme",\#
        "key","iv","url"],"properties":{"kid":{"type":"string","format":"uuid"},"track":{"type":["string","null"]},"\#
        contentType":{"enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]},"scheme":{"enum":["cbcs\#
        ","sample-aes","cenc","cens","cbc1"]},"key":{"type":"string","pattern":"^[0-9a-f]{32}$"},"iv":{"type":"strin\#
        g","pattern":"^[0-9a-f]{32}$"},"url":{"type":"string"}},"additionalProperties":false}},"next":{"type":["stri\#
        ng","null"],"format":"uuid","description":"`after` of the next page."}},"additionalProperties":false},\#
        "ExplainQuestion":{"type":"object","required":["token"],"properties":{"token":{"type":"string"},"spc":{"type\#
        ":"string","contentEncoding":"base64"},"offline":{"type":"boolean"},"address":{"type":"string","anyOf":[{"fo\#
        rmat":"ipv4"},{"format":"ipv6"}]},"country":{"type":"string","pattern":"^[A-Z]{2}$","description":"ISO 3166-\#
        1 alpha-2."}},"additionalProperties":false,"example":{"token":"eyJhbGciOiJFUzI1NiJ9.e30.AA","offline":false}\#
        },\#
        "Check":{"type":"object","required":["name","verdict"],"properties":{"name":{"type":"string"},"verdict":{"en\#
        um":["passed","failed","not_reached"]},"code":{"$ref":"#/components/schemas/ErrorCode"},"cause":{"type":"str\#
        ing"},"found":{"type":"string"},"expected":{"type":"string"}},"additionalProperties":false,"example":{"name"\#
        :"expiry","verdict":"passed"}},\#
        "Explanation":{"type":"object","required":["allowed","use","refusal","checks","findings","claims","spc","key\#
        ","rental","spends","terms"],"properties":{"allowed":{"type":["boolean","null"]},"use":{"enum":["streaming",\#
        "offline"]},"refusal":{"anyOf":[{"type":"null"},{"type":"object","required":["code","cause","remedy"],"prope\#
        rties":{"code":{"$ref":"#/components/schemas/ErrorCode"},"cause":{"type":"string"},"remedy":{"type":"string"\#
        ,"description":"What to do about it."}},"additionalProperties":false}]},"checks":{"type":"object","additiona\#
        lProperties":{"type":"array","items":{"$ref":"#/components/schemas/Check"}},"description":"Checks by their s\#
        ection: `token`, `revocations`, `spc`, `request`, `rights[0]` and so on, `sync`, `terms`."},"findings":{"typ\#
        e":"array","items":{"type":"string"}},"claims":{"anyOf":[{"type":"null"},{"type":"object","required":["issue\#
        r","subject","tokenID","kid","expiresAt","rights"],"properties":{"issuer":{"type":"string"},"subject":{"type\#
        ":["string","null"]},"tokenID":{"type":["string","null"]},"kid":{"type":["string","null"]},"expiresAt":{"typ\#
        e":"integer"},"rights":{"type":"integer"}},"additionalProperties":false}]},"spc":{"anyOf":[{"type":"null"},{\#
        "type":"object","required":["version","credential","assetID","deviceID","sync"],"properties":{"version":{"ty\#
        pe":"integer"},"credential":{"type":"string"},"assetID":{"type":"string"},"deviceID":{"type":["string","null\#
        "]},"sync":{"type":"boolean"}},"additionalProperties":false}]},"key":{"anyOf":[{"type":"null"},{"type":"obje\#
        ct","required":["kid","content","contentType"],"properties":{"kid":{"type":"string"},"content":{"type":"stri\#
        ng"},"contentType":{"enum":["audio","sd","hd","uhd"]}},"additionalProperties":false}]},"rental":{"anyOf":[{"\#
        type":"null"},{"type":"object","properties":{"openedAt":{"type":["string","null"]},"firstPlay":{"type":["str\#
        ing","null"]},"unknown":{"type":"string"}},"additionalProperties":false}]},"spends":{"type":"array","items":\#
        {"type":"string"}},"terms":{"anyOf":[{"type":"null"},{"type":"object","required":["validity","lease","rental\#
        ","storage","playback","kept","hdcp","securityLevel","blocks"],"properties":{"validity":{"type":"string"},"l\#
        ease":{"type":["integer","null"]},"rental":{"type":["integer","null"]},"storage":{"type":["integer","null"]}\#
        ,"playback":{"type":["integer","null"]},"kept":{"type":"boolean"},"hdcp":{"enum":["none","type0","type1",nul\#
        l]},"securityLevel":{"enum":["audio","baseline","main",null]},"blocks":{"type":"array","items":{"type":"obje\#
        ct","required":["tag","name","value"],"properties":{"tag":{"type":"string"},"name":{"type":["string","null"]\#
        },"value":{"type":"string"}},"additionalProperties":false}}},"additionalProperties":false}]}},"additionalPro\#
        perties":false},\#
        "Revocation":{"type":"object","required":["kind","issuer","value","until","revokedAt","reason"],"properties"\#
        :{"kind":{"enum":["jti","kid","iss","sub","hu","device","content","session"]},"issuer":{"type":["string","nu\#
        ll"]},"value":{"type":"string"},"until":{"type":["string","null"]},"revokedAt":{"type":"string"},"reason":{"\#
        type":"string"}},"example":{"kind":"sub","issuer":"https://portal.example","value":"pseudonym:00000000000000\#
        00000000000000000000000000000000000000000000000000","until":null,"revokedAt":"2026-01-31T12:00:00Z","reason"\#
        :""}},\#
        "SessionOrder":{"type":"object","required":["token"],"properties":{"token":{"type":"string","description":"\#
        A token of the admin listener."}},"additionalProperties":false},\#
        "SessionEnd":{"type":"object","required":["hasEnded"],"properties":{"hasEnded":{"type":"boolean","descriptio\#
        n":"Whether the request had a session. A token or a certificate has none."}},"additionalProperties":false},\#
        "Administrator":{"type":"object","required":["name","kind","roles","permissions","actor"],"properties":{"nam\#
        e":{"type":["string","null"],"description":"The name of the credential."},"kind":{"enum":["token","certifica\#
        te","session","none"],"description":"How the sender has proved who it is. `none`: the listener has no creden\#
        tials."},"roles":{"type":"array","items":{"enum":["metrics","support","security","admin"]}},"permissions":{"\#
        type":"array","items":{"enum":["scrape","watch","look","explain","release","revoke","operate"]},"description\#
        ":"What the roles allow together."},"actor":{"type":["string","null"],"description":"The name in the ledger.\#
        "},"formToken":{"type":"string","description":"Of a session: what `X-Latchkey-Form` has in a request that ch\#
        anges something."},"idleSeconds":{"type":"integer","description":"Of a session: how long it lasts withou\#
        t a request."},"endsAt":{"type":"integer","description":"Of a session: its end at the latest, in seconds sin\#
        ce 1970."}},"additionalProperties":false,"example":{"name":"alice","kind":"token","roles":["support"],"permi\#
        ssions":["watch","look","explain","release"],"actor":"token:alice"}},\#
        "Readiness":{"type":"object","required":["ready","changed"],"properties":{"ready":{"type":"boolean","descrip\#
        tion":"Whether no order keeps the node from being ready."},"changed":{"type":"boolean","description":"Whethe\#
        r this request changed that."}},"additionalProperties":false},\#
        "Revocations":{"type":"object","required":["revocations","isComplete"],"properties":{"revocations":{"type":"\#
        array","maxItems":1000,"items":{"$ref":"#/components/schemas/Revocation"}},"isComplete":{"type":"boolean","d\#
        escription":"False if there are more than 1,000."}},"additionalProperties":false},\#
        "RevocationAdded":{"allOf":[{"$ref":"#/components/schemas/Revocation"}],"required":["isShared"],"properties"\#
        :{"isShared":{"type":"boolean","description":"Whether all nodes can know it already."}},"unevaluatedProperti\#
        es":false,"example":{"kind":"sub","issuer":"https://portal.example","value":"pseudonym:000000000000000000000\#
        0000000000000000000000000000000000000000000","until":null,"revokedAt":"2026-01-31T12:00:00Z","reason":"","is\#
        Shared":true}},\#
        "RevocationOrder":{"type":"object","required":["kind","value"],"properties":{"kind":{"enum":["jti","kid","is\#
        s","sub","hu","device","content","session"]},"value":{"type":"string","minLength":1,"maxLength":200},"issuer\#
        ":{"type":["string","null"]},"until":{"type":["string","null"],"format":"date-time"},"reason":{"type":["stri\#
        ng","null"],"maxLength":200}},"additionalProperties":false,"example":{"kind":"sub","value":"viewer-7","reaso\#
        n":"charged back"}},\#
        "Refusal":{"type":"object","required":["source","request_id","time","event","code","cause","explanation","re\#
        medy"],"properties":{"source":{"type":"string","enum":["memory","ledger"],"description":"Where the refusal w\#
        as found."},"request_id":{"type":"string"},"trace_id":{"type":"string","description":"The trace that `tracep\#
        arent` named."},"time":{"type":"string","format":"date-time"},"event":{"type":"string"},"code":{"type":"stri\#
        ng"},"cause":{"type":"string","description":"What the client was not told."},"explanation":{"type":"string",\#
        "description":"The cause in a sentence."},"remedy":{"type":"string","description":"What to do about it."},"t\#
        ag":{"type":"string"},"number":{"type":"string"},"spc_version":{"type":"string"},"listener":{"type":"string"\#
        },"client":{"type":"string","description":"In the form of logging.clientAddress."},"issuer":{"type":"string"\#
        },"token_key":{"type":"string"},"credential":{"type":"string","description":"The FairPlay credential of th\#
        e SPC, or packager:NAME."},"content":{"type":"string"},"kid":{"type":"string"},"subject":{"type":"string","d\#
        escription":"A pseudonym."},"found":{"type":"string"},"expected":{"type":"string"},"degraded":{"type":"strin\#
        g","description":"The parts of the daemon that do not work now."}},"additionalProperties":false,"example":{"\#
        source":"memory","request_id":"5f0c2b7e91d3a846","time":"2026-01-31T12:00:00.000Z","event":"license_refused"\#
        ,"code":"spc_rejected","cause":"integrity","explanation":"The application secret is not the one of the certi\#
        ficate.","remedy":"Compare the application secret of the credential with the one that came with its certific\#
        ate.","tag":"0000000000000000","number":"0","spc_version":"2","listener":"public[0]","client":"203.0.113.0/2\#
        4"}},\#
        "Status":{"type":"object","required":["node","version","startedAt","now","ready","readiness","drained","stop\#
        ping","degraded","ends","nodes","clock","memory","listeners"],"properties":{"node":{"type":"string","descrip\#
        tion":"The name of the node in its configuration."},"version":{"type":"string"},"startedAt":{"type":"integer\#
        "},"now":{"type":"integer","description":"All times are seconds since 1970."},"ready":{"type":"boolean"},"re\#
        adiness":{"type":"string","description":"Why the node is ready or not."},"drained":{"anyOf":[{"type":"object\#
        ","required":["by","since"],"properties":{"by":{"type":"string"},"since":{"type":"integer"}},"additionalProp\#
        erties":false},{"type":"null"}]},"stopping":{"type":"boolean"},"degraded":{"type":"array","items":{"type":"o\#
        bject","required":["part","text","remedy"],"properties":{"part":{"type":"string"},"text":{"type":"string","d\#
        escription":"What does not work."},"remedy":{"type":"string","description":"What to do about it."}},"additio\#
        nalProperties":false}},"ends":{"type":"array","items":{"type":"object","required":["kind","name","endsAt"],"\#
        properties":{"kind":{"type":"string","enum":["tls","fairplay"]},"name":{"type":"string"},"endsAt":{"type":"i\#
        nteger"}},"additionalProperties":false},"description":"When certificates end, the first one first."},"nodes"\#
        :{"type":"array","items":{"type":"object","required":["node","ledger","isThis","seenAt","clockOffsetSeconds"\#
        ,"ledgerLagRows"],"properties":{"node":{"type":"string"},"ledger":{"type":"string","description":"The id o\#
        f the node's ledger."},"isThis":{"type":"boolean"},"seenAt":{"type":["integer","null"]},"clockOffsetSeconds"\#
        :{"type":["number","null"]},"ledgerLagRows":{"type":["integer","null"]}},"additionalProperties":false},"desc\#
        ription":"The nodes that share the database; empty if the node works alone."},"clock":{"type":"object","requ\#
        ired":["state","databaseOffsetSeconds","stepSeconds"],"properties":{"state":{"type":"string","enum":["truste\#
        d","unproved","stepped","behind","apart"]},"databaseOffsetSeconds":{"type":["number","null"]},"stepSeconds":\#
        {"type":"number"}},"additionalProperties":false},"memory":{"type":"object","required":["charged","budget","r\#
        esident"],"properties":{"charged":{"type":"integer","description":"Bytes that are held for clients."},"budge\#
        t":{"type":"integer"},"resident":{"type":["integer","null"]}},"additionalProperties":false},"listeners":{"ty\#
        pe":"array","items":{"type":"object","required":["name","address","tls"],"properties":{"name":{"type":"strin\#
        g"},"address":{"type":"string"},"tls":{"type":"boolean"}},"additionalProperties":false}}},"additionalPropert\#
        ies":false},\#
        "SeriesName":{"type":"string","enum":["licenses_v1","licenses_v2","licenses_v3","licenses_repeated","refusal\#
        s","refusals_spc","refusals_token","refusals_rights","refusals_key","refusals_overload","refusals_fault","re\#
        fusals_other","latency_p50","latency_p99","rsa_busy","processors","loop_lag","loop_longest_turn","requests_i\#
        n_flight","connections","memory_charged","memory_resident","http_2xx","http_3xx","http_4xx","http_5xx","ledg\#
        er_waiting","ledger_lag"],"description":"The article Metrics says what each series is."},\#
        "History":{"type":"object","required":["stepSeconds","startsAt","count","series"],"properties":{"stepSeconds\#
        ":{"type":"integer"},"startsAt":{"type":"number","description":"The beginning of the first step, in second\#
        s since 1970."},"count":{"type":"integer","minimum":0,"maximum":360,"description":"The number of steps."},"s\#
        eries":{"type":"array","items":{"type":"object","required":["name","unit","values"],"properties":{"name":{"$\#
        ref":"#/components/schemas/SeriesName"},"unit":{"type":"string","enum":["per_second","seconds","share","coun\#
        t","bytes"]},"values":{"type":"array","items":{"type":["number","null"]},"description":"null where the numbe\#
        r is not known."}},"additionalProperties":false}}},"additionalProperties":false},\#
        "Sample":{"type":"object","required":["at","values"],"properties":{"at":{"type":"number","description":"In s\#
        econds since 1970."},"values":{"type":"object","propertyNames":{"$ref":"#/components/schemas/SeriesName"},"a\#
        dditionalProperties":{"type":["number","null"]},"description":"The values of the last two seconds."}},"addit\#
        ionalProperties":false},\#
        "RefusalsPage":{"type":"object","required":["refusals","next"],"properties":{"refusals":{"type":"array","ite\#
        ms":{"$ref":"#/components/schemas/Refusal"}},"next":{"type":["string","null"]}},"additionalProperties":false\#
        },\#
        "LedgerPage":{"type":"object","required":["entries","order","next","isComplete"],"properties":{"entries":{"t\#
        ype":"array","items":{"type":"object","required":["sequence","node","at","time","text","kind","license","pre\#
        vious","kid","content","subject","device","issuer","token","cookie","detail","lease","rental","until","playb\#
        ack","renewAfter","actor","request","report"],"properties":{"sequence":{"type":"integer"},"node":{"type":"st\#
        ring","description":"The id of the node whose ledger has the entry."},"at":{"type":"integer","description":"\#
        In seconds since 1970."},"time":{"type":"string"},"text":{"type":"string","description":"The entry in one li\#
        ne."},"kind":{"type":"string"},"license":{"type":"string"},"previous":{"type":["string","null"]},"kid":{"typ\#
        e":["string","null"]},"content":{"type":["string","null"]},"subject":{"type":["string","null"],"description"\#
        :"The first half of a pseudonym, as hexadecimal digits."},"device":{"type":["string","null"],"description":"\#
        The same."},"issuer":{"type":["string","null"],"description":"The token's issuer, if the token has no subjec\#
        t; of a refusal, if it is known."},"token":{"type":["string","null"]},"cookie":{"type":["string","null"]},"d\#
        etail":{"type":"string"},"lease":{"type":["integer","null"]},"rental":{"type":["integer","null"]},"until":{"\#
        type":["string","null"]},"playback":{"type":["integer","null"]},"renewAfter":{"type":["string","null"]},"act\#
        or":{"type":["string","null"]},"request":{"type":["string","null"]},"report":{"anyOf":[{"type":"object","req\#
        uired":["flags","outcome","titleID","streamIDs"],"properties":{"flags":{"type":"string"},"outcome":{"type":"\#
        string"},"titleID":{"type":"string"},"streamIDs":{"type":"array","items":{"type":"string"}}},"additionalProp\#
        erties":false},{"type":"null"}]}},"additionalProperties":false}},"order":{"type":"string","const":"newestFir\#
        st"},"next":{"type":["string","null"]},"isComplete":{"type":"boolean","description":"Whether the search ha\#
        s reached the beginning of the ledger."}},"additionalProperties":false},\#
        "ContentsPage":{"type":"object","required":["contents","next"],"properties":{"contents":{"type":"array","ite\#
        ms":{"type":"object","required":["contentId","keyCount","withdrawnCount","hasMoreKeys","tracks","periodCount\#
        ","createdAt","newestAt"],"properties":{"contentId":{"type":"string"},"keyCount":{"type":"integer"},"withdra\#
        wnCount":{"type":"integer"},"hasMoreKeys":{"type":"boolean","description":"Whether the content has more key\#
        s than were counted."},"tracks":{"type":"array","items":{"type":"string"},"description":"The labels of the t\#
        racks; for a key without a label, its type."},"periodCount":{"type":"integer"},"createdAt":{"type":"integer"\#
        ,"description":"When the first of these keys was made, in seconds since 1970."},"newestAt":{"type":"integer"\#
        ,"description":"When the last one was made."}},"additionalProperties":false}},"next":{"type":["string","null\#
        "]}},"additionalProperties":false},\#
        "ContentKeysPage":{"type":"object","required":["contentId","keys","periods","nextRotation","next"],"properti\#
        es":{"contentId":{"type":"string"},"keys":{"type":"array","items":{"type":"object","required":["keyId","trac\#
        k","type","period","scheme","createdAt","state","floors"],"properties":{"keyId":{"type":"string"},"track":{"\#
        type":["string","null"],"description":"The label; null for a key that serves every track."},"type":{"type":"\#
        string","enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]},"scheme":{"type":"string","en\#
        um":["cbcs","sample-aes","cenc","cens","cbc1"]},"createdAt":{"type":"integer"},"state":{"type":"string","enu\#
        m":["live","withdrawn"]},"floors":{"type":"object","required":["securityLevel","hdcp"],"properties":{"securi\#
        tyLevel":{"type":["string","null"]},"hdcp":{"type":["string","null"]}},"additionalProperties":false,"descrip\#
        tion":"The least that the key demands of a device; null if only the type decides."}},"additionalProperties":\#
        false}},"periods":{"type":"array","items":{"type":"object","required":["index","startsAt","endsAt"],"propert\#
        ies":{"index":{"type":"integer"},"startsAt":{"type":["integer","null"]},"endsAt":{"type":["integer","null"]}\#
        },"additionalProperties":false},"description":"The newest periods, the newest first."},"nextRotation":{"anyO\#
        f":[{"type":"object","required":["index","at"],"properties":{"index":{"type":"integer"},"at":{"type":"intege\#
        r"}},"additionalProperties":false},{"type":"null"}]},"next":{"type":["string","null"]}},"additionalPropertie\#
        s":false},\#
        "DevicesPage":{"type":"object","required":["devices","next"],"properties":{"devices":{"type":"array","items"\#
        :{"type":"object","required":["device","addedAt","seenAt","keptUntil"],"properties":{"device":{"type":"strin\#
        g"},"addedAt":{"type":["string","null"]},"seenAt":{"type":["string","null"]},"keptUntil":{"type":["string","\#
        null"]}},"additionalProperties":false}},"next":{"type":["string","null"]}},"additionalProperties":false},\#
        "PlaybacksPage":{"type":"object","required":["playbacks","next"],"properties":{"playbacks":{"type":"array","\#
        items":{"type":"object","required":["playback","group","device","session","content","playing","counted","hel\#
        dUntil"],"properties":{"playback":{"type":"string"},"group":{"type":"string"},"device":{"type":"string"},"se\#
        ssion":{"type":["string","null"]},"content":{"type":["string","null"]},"playing":{"type":"boolean"},"counted\#
        ":{"type":"boolean"},"heldUntil":{"type":"string"}},"additionalProperties":false}},"next":{"type":["string",\#
        "null"]}},"additionalProperties":false},\#
        "RentalsPage":{"type":"object","required":["rentals","next"],"properties":{"rentals":{"type":"array","items"\#
        :{"type":"object","required":["content","openedAt","firstPlay","keptUntil"],"properties":{"content":{"type":\#
        "string"},"openedAt":{"type":"string"},"firstPlay":{"type":["string","null"]},"keptUntil":{"type":"string"}}\#
        ,"additionalProperties":false}},"next":{"type":["string","null"]}},"additionalProperties":false}}}}
        """#

    static let textOfPublicListener = #"""
        {"openapi":"3.1.0",\#
        "info":{"title":"Latchkey",\#
        "version":"0.1.0",\#
        "summary":"A FairPlay Streaming licence server.",\#
        "description":"Every route of the public listeners and, where an admin listener gives this description, of a\#
        dmin listeners. A method that is not listed for a path is refused with 405 and `Allow`, an unknown method wi\#
        th 501. HEAD is answered as GET, without a body. Refusals are `application/problem+json` unless a path say\#
        s otherwise; `x-error-codes` lists the codes of an operation, beside those of HTTP itself, which the root'\#
        s `x-error-codes-of-http` lists for all of them. With `entitlement.dashIFStatus` the refusals of tokens tha\#
        t prove too little have the status 403 in place of 401. Paths with `x-listeners` `public` are for strangers\#
        ; those with `admin` alone are for operators.",\#
        "license":{"name":"Apache-2.0",\#
        "identifier":"Apache-2.0"}},\#
        "jsonSchemaDialect":"https://spec.openapis.org/oas/3.1/dialect/base",\#
        "x-error-codes-of-http":["overloaded",\#
        "bad_request",\#
        "request_timeout",\#
        "body_too_large",\#
        "uri_too_long",\#
        "head_too_large",\#
        "expectation_failed",\#
        "not_implemented",\#
        "version_not_supported",\#
        "internal"],\#
        "servers":[{"url":"/",\#
        "description":"The listener that gives this description."}],\#
        "tags":[{"name":"licences",\#
        "description":"Licences, renewals, sync reports, and what is known of them."},\#
        {"name":"certificates",\#
        "description":"Application certificates, for everyone."},\#
        {"name":"health",\#
        "description":"For load balancers."},\#
        {"name":"description",\#
        "description":"This description."},\#
        {"name":"cross-origin",\#
        "description":"What browsers ask for pages of other origins."},\#
        {"name":"expressplay",\#
        "description":"Token URLs for customers, in ExpressPlay's manner."},\#
        {"name":"packagers",\#
        "description":"Keys for packagers, over TLS, from the same machine, or behind a trusted proxy alone."}],\#
        "paths":{"/fps/license":{"x-listeners":["public"],\#
        "post":{"operationId":"requestLicence","tags":["licences"],"summary":"A licence, a renewal, an offline licen\#
        ce, a sync report or a report of ended sessions","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMe\#
        ssage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]\#
        },{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/paramete\#
        rs/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#\#
        /components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/\#
        ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref\#
        ":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref":"#/components/pa\#
        rameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref":"#/components/re\#
        questBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/c\#
        omponents/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/component\#
        s/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/respon\#
        ses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Pro\#
        blem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem41\#
        7"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431\#
        ":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$re\#
        f":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/c\#
        omponents/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","sp\#
        c_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_rep\#
        layed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_si\#
        gnature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_\#
        used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offli\#
        ne_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","sess\#
        ion_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entit\#
        lement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module\#
        _unavailable"]},\#
        "options":{"operationId":"preflightLicence","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/co\#
        mponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/componen\#
        ts/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/resp\#
        onses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/P\#
        roblem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/license/{kid}":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/PathKeyId"}],\#
        "post":{"operationId":"requestLicenceByKey","tags":["licences"],"summary":"A licence, a renewal, an offlin\#
        e licence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the configu\#
        ration this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizatio\#
        ns":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"ex\#
        pressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/c\#
        omponents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Pre\#
        vious"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/comp\#
        onents/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameter\#
        s/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref\#
        ":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref\#
        ":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},\#
        "400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"\#
        $ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/compon\#
        ents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/r\#
        esponses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/response\#
        s/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Playe\#
        r500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},\#
        "505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_i\#
        s_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_\#
        rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_\#
        revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","tok\#
        en_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","conten\#
        t_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concur\#
        rency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlem\#
        ent_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_\#
        untrusted","module_unavailable","not_found"]},\#
        "options":{"operationId":"preflightLicenceByKey","tags":["cross-origin"],"summary":"What a browser asks befo\#
        re it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"\#
        $ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/\#
        responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respons\#
        es/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/v1/license":{"x-listeners":["public"],\#
        "post":{"operationId":"requestLicenceV1","tags":["licences"],"summary":"A licence, a renewal, an offline lic\#
        ence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the configuratio\#
        n this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[\#
        ]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"express\#
        PlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/compon\#
        ents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous\#
        "},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/component\#
        s/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/Vid\#
        eoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref":"#/\#
        components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref":"#/\#
        components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400"\#
        :{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref"\#
        :"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/comp\#
        onents/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/\#
        responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respon\#
        ses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Pla\#
        yer429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"\#
        },"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505"\#
        :{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_cer\#
        tificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejec\#
        ted","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revok\#
        ed","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_sc\#
        hema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mis\#
        match","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concurrency\#
        _limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_d\#
        enied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untru\#
        sted","module_unavailable","not_found"]},\#
        "options":{"operationId":"preflightLicenceV1","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#\#
        /components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compo\#
        nents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/r\#
        esponses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/v1/license/{kid}":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/PathKeyId"}],\#
        "post":{"operationId":"requestLicenceByKeyV1","tags":["licences"],"summary":"A licence, a renewal, an offlin\#
        e licence, a sync report or a report of ended sessions","description":"Without `licensePaths` in the configu\#
        ration this path is served; with it, those that are listed there.","security":[{"token":[]},{"nvAuthorizatio\#
        ns":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"ex\#
        pressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/c\#
        omponents/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Pre\#
        vious"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/comp\#
        onents/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameter\#
        s/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref\#
        ":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref\#
        ":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},\#
        "400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"\#
        $ref":"#/components/responses/Player403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#\#
        /components/responses/Problem408"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/compon\#
        ents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/r\#
        esponses/Problem417"},"422":{"$ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/response\#
        s/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Playe\#
        r500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},\#
        "505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_i\#
        s_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_\#
        rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_\#
        revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer","tok\#
        en_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","conten\#
        t_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","concur\#
        rency_limit","session_expired","session_killed","key_not_found","key_store_timeout","rate_limited","entitlem\#
        ent_denied","entitlement_unavailable","terms_not_expressible","security_level","storage_unavailable","clock_\#
        untrusted","module_unavailable","not_found"]},\#
        "options":{"operationId":"preflightLicenceByKeyV1","tags":["cross-origin"],"summary":"What a browser asks be\#
        fore it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":\#
        {"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref"\#
        :"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/co\#
        mponents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/component\#
        s/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/{prefix}/contentlicenseservice/v1/licenses":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/Prefix"}],\#
        "post":{"operationId":"requestLicenceNAGRA","tags":["licences"],"summary":"A licence, a renewal, an offlin\#
        e licence, a sync report or a report of ended sessions","description":"Licences as `CkcMessage` and refusal\#
        s with `errorCode`, in NAGRA's manner. Without `licensePaths` in the configuration this path is served; wit\#
        h it, those that are listed there.","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"\#
        axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuer\#
        y":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/Offline"},\#
        {"$ref":"#/components/parameters/Renew"},{"$ref":"#/components/parameters/Previous"},{"$ref":"#/components/p\#
        arameters/Format"},{"$ref":"#/components/parameters/AssetId"},{"$ref":"#/components/parameters/ContentIdHint\#
        "},{"$ref":"#/components/parameters/KIDHint"},{"$ref":"#/components/parameters/VideoId"},{"$ref":"#/componen\#
        ts/parameters/KIDField"},{"$ref":"#/components/parameters/RenewField"},{"$ref":"#/components/parameters/Trac\#
        eParent"},{"$ref":"#/components/parameters/TraceState"}],"requestBody":{"$ref":"#/components/requestBodies/L\#
        icenceRequest"},"responses":{"200":{"$ref":"#/components/responses/Licence"},"400":{"$ref":"#/components/res\#
        ponses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/responses/P\#
        layer403"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem40\#
        8"},"409":{"$ref":"#/components/responses/Player409"},"413":{"$ref":"#/components/responses/Problem413"},"41\#
        4":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$\#
        ref":"#/components/responses/Player422"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/\#
        components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/compone\#
        nts/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/res\#
        ponses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base\#
        64","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","token\#
        _missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","tok\#
        en_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_used","token_\#
        revoked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowe\#
        d","right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired",\#
        "session_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavai\#
        lable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable"\#
        ,"not_found"]},\#
        "options":{"operationId":"preflightLicenceNAGRA","tags":["cross-origin"],"summary":"What a browser asks befo\#
        re it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"\#
        $ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/\#
        responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respons\#
        es/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/hms/fp/rights/":{"x-listeners":["public"],\#
        "post":{"operationId":"redeemExpressPlayToken","tags":["licences"],"summary":"A licence, a renewal, an offli\#
        ne licence, a sync report or a report of ended sessions","description":"The same as `/fps/license`, with ref\#
        usals in ExpressPlay's manner. `expressPlay.redeemPaths` may name other paths in its place.","security":[{"t\#
        oken":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmCloud":[]},{"\#
        expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmTokenQuery":[]}],\#
        "parameters":[{"$ref":"#/components/parameters/Offline"},{"$ref":"#/components/parameters/Renew"},{"$ref":"#\#
        /components/parameters/Previous"},{"$ref":"#/components/parameters/Format"},{"$ref":"#/components/parameters\#
        /AssetId"},{"$ref":"#/components/parameters/ContentIdHint"},{"$ref":"#/components/parameters/KIDHint"},{"$re\#
        f":"#/components/parameters/VideoId"},{"$ref":"#/components/parameters/KIDField"},{"$ref":"#/components/para\#
        meters/RenewField"},{"$ref":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/TraceSta\#
        te"}],"requestBody":{"$ref":"#/components/requestBodies/LicenceRequest"},"responses":{"200":{"$ref":"#/compo\#
        nents/responses/Licence"},"400":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components\#
        /responses/ExpressPlay401"},"403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/componen\#
        ts/responses/ExpressPlay404"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components\#
        /responses/ExpressPlay409"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/componen\#
        ts/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/res\#
        ponses/ExpressPlay422"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/r\#
        esponses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/res\#
        ponses/Problem501"},"503":{"$ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/respo\#
        nses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64\#
        ","spc_version_unsupported","spc_malformed","spc_certificate_unknown","spc_rejected","spc_replayed","token_m\#
        issing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token\#
        _expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_used","token_re\#
        voked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed"\#
        ,"right_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","s\#
        ession_killed","key_not_found","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavaila\#
        ble","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavailable","\#
        not_found"]},\#
        "options":{"operationId":"preflightRedeem","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":\#
        "#/components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#\#
        /components/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/c\#
        omponents/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/com\#
        ponents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/certificate":{"x-listeners":["public"],\#
        "get":{"operationId":"getCertificate","tags":["certificates"],"summary":"The application certificate","descr\#
        iption":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by its 2048-\#
        bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameters/Crede\#
        ntial"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref"\#
        :"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"3\#
        04":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400\#
        "},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413\#
        ":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$r\#
        ef":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/\#
        components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/compone\#
        nts/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]\#
        },\#
        "head":{"operationId":"headGetCertificate","tags":["certificates"],"summary":"The fields of the answer to GE\#
        T","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/parameter\#
        s/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMatch"}\#
        ],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses/Cer\#
        tificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/response\#
        s/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Probl\#
        em413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"\#
        },"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500"\#
        :{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref\#
        ":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightGetCertificate","tags":["cross-origin"],"summary":"What a browser asks be\#
        fore it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":\#
        {"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref"\#
        :"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/co\#
        mponents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/component\#
        s/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/v1/certificate":{"x-listeners":["public"],\#
        "get":{"operationId":"getCertificateV1","tags":["certificates"],"summary":"The application certificate","des\#
        cription":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by its 204\#
        8-bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameters/Cre\#
        dential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$re\#
        f":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},\#
        "304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player4\#
        00"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"4\#
        13":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"\#
        $ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"\#
        #/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/compo\#
        nents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found\#
        "]},\#
        "head":{"operationId":"headGetCertificateV1","tags":["certificates"],"summary":"The fields of the answer t\#
        o GET","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/param\#
        eters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNoneMat\#
        ch"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/responses\#
        /CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/resp\#
        onses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/P\#
        roblem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem\#
        417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"\#
        500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"\#
        $ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightGetCertificateV1","tags":["cross-origin"],"summary":"What a browser ask\#
        s before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"4\#
        00":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$\#
        ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"\#
        #/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/compo\#
        nents/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/r\#
        esponses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/{prefix}/contentlicenseservice/v1/certificates":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/Prefix"}],\#
        "get":{"operationId":"getCertificateNAGRA","tags":["certificates"],"summary":"The application certificate","\#
        description":"Without a query the bundle of the first credential: its 1024-bit certificate, followed by it\#
        s 2048-bit one. Unknown parameters say nothing.","security":[],"parameters":[{"$ref":"#/components/parameter\#
        s/Credential"},{"$ref":"#/components/parameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},\#
        {"$ref":"#/components/parameters/IfNoneMatch"}],"responses":{"200":{"$ref":"#/components/responses/Certifica\#
        te"},"304":{"$ref":"#/components/responses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Pl\#
        ayer400"},"404":{"$ref":"#/components/responses/Player404"},"408":{"$ref":"#/components/responses/Problem408\#
        "},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"41\#
        7":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$r\#
        ef":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_\#
        found"]},\#
        "head":{"operationId":"headGetCertificateNAGRA","tags":["certificates"],"summary":"The fields of the answe\#
        r to GET","security":[],"parameters":[{"$ref":"#/components/parameters/Credential"},{"$ref":"#/components/pa\#
        rameters/Size"},{"$ref":"#/components/parameters/CertificateFormat"},{"$ref":"#/components/parameters/IfNone\#
        Match"}],"responses":{"200":{"$ref":"#/components/responses/Certificate"},"304":{"$ref":"#/components/respon\#
        ses/CertificateNotModified"},"400":{"$ref":"#/components/responses/Player400"},"404":{"$ref":"#/components/r\#
        esponses/Player404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/response\#
        s/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Prob\#
        lem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"\#
        },"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"505"\#
        :{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightGetCertificateNAGRA","tags":["cross-origin"],"summary":"What a browser as\#
        ks before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"\#
        400":{"$ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"\#
        $ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":\#
        "#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/comp\#
        onents/responses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/\#
        responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/licenses/query":{"x-listeners":["public"],\#
        "post":{"operationId":"queryLicences","tags":["licences"],"summary":"Until when licences are good, and whe\#
        n to renew them","security":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"\#
        drmToday":[]},{"drmCloud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQ\#
        uery":[]},{"drmTokenQuery":[]}],"parameters":[{"$ref":"#/components/parameters/TraceParent"},{"$ref":"#/comp\#
        onents/parameters/TraceState"}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$re\#
        f":"#/components/schemas/LicenceQuery"}}}},"responses":{"200":{"description":"The state of each licence, a\#
        s far as it was given to this subject.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},\#
        "Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"$ref\#
        ":"#/components/schemas/LicenceStates"}}}},"400":{"$ref":"#/components/responses/Player400"},"401":{"$ref":"\#
        #/components/responses/Player401"},"403":{"$ref":"#/components/responses/Player403"},"408":{"$ref":"#/compon\#
        ents/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/r\#
        esponses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/respons\#
        es/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Play\#
        er500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/Player503"}\#
        ,"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["body_empty","body_unrecognised","toke\#
        n_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","to\#
        ken_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_revoked","su\#
        bject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","session_expired","session_kill\#
        ed","key_store_timeout","rate_limited","entitlement_denied","entitlement_unavailable","storage_unavailable",\#
        "clock_untrusted"]},\#
        "options":{"operationId":"preflightQuery","tags":["cross-origin"],"summary":"What a browser asks before it s\#
        ends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"\#
        #/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/compo\#
        nents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/\#
        responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/respons\#
        es/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Prob\#
        lem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/fps/challenge":{"x-listeners":["public"],\#
        "post":{"operationId":"issueChallenge","tags":["licences"],"summary":"A number for the next sync report","se\#
        curity":[{"token":[]},{"nvAuthorizations":[]},{"axinomMessage":[]},{"axinomQuery":[]},{"drmToday":[]},{"drmC\#
        loud":[]},{"expressPlayToken":[]},{"expressPlayQuery":[]},{"tokenQuery":[]},{"userTokenQuery":[]},{"drmToken\#
        Query":[]}],"parameters":[{"$ref":"#/components/parameters/TraceParent"},{"$ref":"#/components/parameters/Tr\#
        aceState"}],"responses":{"200":{"description":"A challenge, which is accepted once.","headers":{"X-Request-I\#
        d":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"\#
        content":{"application/json":{"schema":{"$ref":"#/components/schemas/Challenge"}}}},"400":{"$ref":"#/compone\#
        nts/responses/Player400"},"401":{"$ref":"#/components/responses/Player401"},"403":{"$ref":"#/components/resp\#
        onses/Player403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/P\#
        roblem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem\#
        417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/responses/Problem431"},"\#
        500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"\#
        $ref":"#/components/responses/Player503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes\#
        ":["token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown","kid_revoked","token_signat\#
        ure","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_schema","token_revo\#
        ked","subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","session_expired","sess\#
        ion_killed","rate_limited","entitlement_denied","entitlement_unavailable","storage_unavailable","clock_untru\#
        sted"]},\#
        "options":{"operationId":"preflightChallenge","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Player400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#\#
        /components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compo\#
        nents/responses/Problem417"},"429":{"$ref":"#/components/responses/Player429"},"431":{"$ref":"#/components/r\#
        esponses/Problem431"},"500":{"$ref":"#/components/responses/Player500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/livez":{"x-listeners":["public","admin"],\#
        "get":{"operationId":"getLiveness","tags":["health"],"summary":"Whether the daemon lives","security":[],"res\#
        ponses":{"200":{"description":"It lives.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"\#
        },"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"sch\#
        ema":{"type":"string","pattern":"^ok\\n$"}}}},"400":{"$ref":"#/components/responses/Problem400"},"408":{"$re\#
        f":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/\#
        components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/compon\#
        ents/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/r\#
        esponses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/components/respons\#
        es/Problem505"}}},\#
        "head":{"operationId":"headGetLiveness","tags":["health"],"summary":"The fields of the answer to GET","secur\#
        ity":[],"responses":{"200":{"description":"It lives.","headers":{"X-Request-Id":{"$ref":"#/components/header\#
        s/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=\#
        utf-8":{"schema":{"type":"string","pattern":"^ok\\n$"}}}},"400":{"$ref":"#/components/responses/Problem400"}\#
        ,"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"},"414"\#
        :{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$re\#
        f":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/\#
        components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}}},\#
        "options":{"operationId":"preflightLiveness","tags":["cross-origin"],"summary":"What a browser asks before i\#
        t sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref\#
        ":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/c\#
        omponents/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/compone\#
        nts/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/re\#
        sponses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/readyz":{"x-listeners":["public","admin"],\#
        "get":{"operationId":"getReadiness","tags":["health"],"summary":"Whether the daemon wants requests","securit\#
        y":[],"responses":{"200":{"description":"It does. Admin listeners name what is degraded in a second line.","\#
        headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/hea\#
        ders/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ready\\n"\#
        }}}},"503":{"description":"It stops, or it can issue no licence at all.","headers":{"X-Request-Id":{"$ref":"\#
        #/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"t\#
        ext/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^not ready\\n"}}}},"400":{"$ref":"#/componen\#
        ts/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/res\#
        ponses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses\#
        /Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Probl\#
        em431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"\#
        },"505":{"$ref":"#/components/responses/Problem505"}}},\#
        "head":{"operationId":"headGetReadiness","tags":["health"],"summary":"The fields of the answer to GET","secu\#
        rity":[],"responses":{"200":{"description":"It does. Admin listeners name what is degraded in a second line.\#
        ","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/\#
        headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^ready\\#
        \n"}}}},"503":{"description":"It stops, or it can issue no licence at all.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":\#
        {"text/plain; charset=utf-8":{"schema":{"type":"string","pattern":"^not ready\\n"}}}},"400":{"$ref":"#/compo\#
        nents/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/\#
        responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/respon\#
        ses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Pr\#
        oblem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem5\#
        01"},"505":{"$ref":"#/components/responses/Problem505"}}},\#
        "options":{"operationId":"preflightReadiness","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/openapi.json":{"x-listeners":["public","admin"],\#
        "get":{"operationId":"getDescription","tags":["description"],"summary":"This description","description":"O\#
        n admin listeners with any credential of the listener.","security":[{},{"adminToken":[]}],"responses":{"200"\#
        :{"description":"OpenAPI 3.1. The public listener describes its own routes alone; an admin listener describe\#
        s those of both.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref\#
        ":"#/components/headers/CacheControl"}},"content":{"application/json":{"schema":{"type":"object","required":\#
        ["openapi","info","paths"],"properties":{"openapi":{"type":"string"}}}}}},"400":{"$ref":"#/components/respon\#
        ses/Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Pr\#
        oblem403"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem4\#
        13"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"\#
        429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{\#
        "$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["admin_token_invalid","admin_origin_refused","rate_l\#
        imited"]},\#
        "head":{"operationId":"headGetDescription","tags":["description"],"summary":"The fields of the answer to GET\#
        ","security":[{},{"adminToken":[]}],"responses":{"200":{"description":"OpenAPI 3.1. The public listener desc\#
        ribes its own routes alone; an admin listener describes those of both.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"ap\#
        plication/json":{"schema":{"type":"object","required":["openapi","info","paths"],"properties":{"openapi":{"t\#
        ype":"string"}}}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses\#
        /Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"408":{"$ref":"#/components/responses/Probl\#
        em408"},"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"\#
        },"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431\#
        ":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$r\#
        ef":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes"\#
        :["admin_token_invalid","admin_origin_refused","rate_limited"]},\#
        "options":{"operationId":"preflightDescription","tags":["cross-origin"],"summary":"What a browser asks befor\#
        e it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$\#
        ref":"#/components/responses/Problem400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"\#
        #/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/comp\#
        onents/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/respo\#
        nses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/hms/fp/token":{"x-listeners":["public"],\#
        "get":{"operationId":"makeToken","tags":["expressplay"],"summary":"A token URL, by GET","description":"404 u\#
        nless `expressPlay.customers` lists customers.","security":[{"customerAuthenticator":[]}],"parameters":[{"$r\#
        ef":"#/components/parameters/FormErrorFormat"},{"$ref":"#/components/parameters/FormGeneralFlags"},{"$ref":"\#
        #/components/parameters/FormContentKey"},{"$ref":"#/components/parameters/FormKek"},{"$ref":"#/components/pa\#
        rameters/FormEk"},{"$ref":"#/components/parameters/FormKid"},{"$ref":"#/components/parameters/FormIv"},{"$re\#
        f":"#/components/parameters/FormRentalDuration"},{"$ref":"#/components/parameters/FormFpExtension"},{"$ref":\#
        "#/components/parameters/FormExpirationTime"},{"$ref":"#/components/parameters/FormCookie"},{"$ref":"#/compo\#
        nents/parameters/FormLatchkeylease"},{"$ref":"#/components/parameters/FormLatchkeydevice"},{"$ref":"#/compon\#
        ents/parameters/FormLatchkeybind"},{"$ref":"#/components/parameters/FormLatchkeyuses"},{"$ref":"#/components\#
        /parameters/FormLatchkeyhdcp"},{"$ref":"#/components/parameters/FormRightsType"},{"$ref":"#/components/param\#
        eters/FormRentalperiodEndTime"},{"$ref":"#/components/parameters/FormRentalplayDuration"},{"$ref":"#/compone\#
        nts/parameters/FormAnalogVideoOPL"},{"$ref":"#/components/parameters/FormCompressedDigitalAudioOPL"},{"$ref"\#
        :"#/components/parameters/FormCompressedDigitalVideoOPL"},{"$ref":"#/components/parameters/FormUncompressedD\#
        igitalAudioOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalVideoOPL"},{"$ref":"#/components/pa\#
        rameters/FormPrFlag"},{"$ref":"#/components/parameters/FormUseHttps"}],"responses":{"200":{"description":"On\#
        e URL with the token, for the app.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cac\#
        he-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/uri-list":{"schema":{"type":"stri\#
        ng","format":"uri"}}}},"400":{"$ref":"#/components/responses/ExpressPlay400"},"401":{"$ref":"#/components/re\#
        sponses/ExpressPlay401"},"403":{"$ref":"#/components/responses/ExpressPlay403"},"404":{"$ref":"#/components/\#
        responses/ExpressPlay404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/re\#
        sponses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/resp\#
        onses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/components/respon\#
        ses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"503":{"$ref":"#/components/responses/ExpressPlay503"},"505":{"$ref":"#/components/responses/\#
        Problem505"}},"x-error-codes":["not_found"]},\#
        "post":{"operationId":"makeTokenByForm","tags":["expressplay"],"summary":"A token URL, by a form","descripti\#
        on":"The authenticator is a member of the form, or a parameter of the query.","security":[{},{"customerAuthe\#
        nticator":[]}],"parameters":[{"$ref":"#/components/parameters/FormErrorFormat"},{"$ref":"#/components/parame\#
        ters/FormGeneralFlags"},{"$ref":"#/components/parameters/FormContentKey"},{"$ref":"#/components/parameters/F\#
        ormKek"},{"$ref":"#/components/parameters/FormEk"},{"$ref":"#/components/parameters/FormKid"},{"$ref":"#/com\#
        ponents/parameters/FormIv"},{"$ref":"#/components/parameters/FormRentalDuration"},{"$ref":"#/components/para\#
        meters/FormFpExtension"},{"$ref":"#/components/parameters/FormExpirationTime"},{"$ref":"#/components/paramet\#
        ers/FormCookie"},{"$ref":"#/components/parameters/FormLatchkeylease"},{"$ref":"#/components/parameters/FormL\#
        atchkeydevice"},{"$ref":"#/components/parameters/FormLatchkeybind"},{"$ref":"#/components/parameters/FormLat\#
        chkeyuses"},{"$ref":"#/components/parameters/FormLatchkeyhdcp"},{"$ref":"#/components/parameters/FormRightsT\#
        ype"},{"$ref":"#/components/parameters/FormRentalperiodEndTime"},{"$ref":"#/components/parameters/FormRental\#
        playDuration"},{"$ref":"#/components/parameters/FormAnalogVideoOPL"},{"$ref":"#/components/parameters/FormCo\#
        mpressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormCompressedDigitalVideoOPL"},{"$ref":"#/compon\#
        ents/parameters/FormUncompressedDigitalAudioOPL"},{"$ref":"#/components/parameters/FormUncompressedDigitalVi\#
        deoOPL"},{"$ref":"#/components/parameters/FormPrFlag"},{"$ref":"#/components/parameters/FormUseHttps"}],"req\#
        uestBody":{"required":false,"content":{"application/x-www-form-urlencoded":{"schema":{"$ref":"#/components/s\#
        chemas/TokenForm"}}}},"responses":{"200":{"description":"One URL with the token, for the app.","headers":{"X\#
        -Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheCo\#
        ntrol"}},"content":{"text/uri-list":{"schema":{"type":"string","format":"uri"}}}},"400":{"$ref":"#/component\#
        s/responses/ExpressPlay400"},"401":{"$ref":"#/components/responses/ExpressPlay401"},"403":{"$ref":"#/compone\#
        nts/responses/ExpressPlay403"},"404":{"$ref":"#/components/responses/ExpressPlay404"},"408":{"$ref":"#/compo\#
        nents/responses/Problem408"},"413":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/compone\#
        nts/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/re\#
        sponses/ExpressPlay429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/resp\#
        onses/ExpressPlay500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/respon\#
        ses/ExpressPlay503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightToken","tags":["cross-origin"],"summary":"What a browser asks before it s\#
        ends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"400":{"$ref":"\#
        #/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/\#
        components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/co\#
        mponents/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"$ref":"#/comp\#
        onents/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$ref":"#/compon\#
        ents/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/sees/SEESServlet":{"x-listeners":["public"],\#
        "post":{"operationId":"askEntitlementServer","tags":["expressplay"],"summary":"A token URL by content, for b\#
        ack ends","description":"404 unless `expressPlay.sees` is configured.","security":[{"entitlementServer":[]},\#
        {"entitlementServerCertificate":[]}],"requestBody":{"required":true,"content":{"application/json":{"schema":\#
        {"$ref":"#/components/schemas/SEESQuestion"}}}},"responses":{"200":{"description":"A token URL, or why ther\#
        e is none.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/c\#
        omponents/headers/CacheControl"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},"400":{"$ref":"#/components/responses/S\#
        EES400"},"401":{"$ref":"#/components/responses/SEES401"},"403":{"$ref":"#/components/responses/SEES403"},"40\#
        4":{"$ref":"#/components/responses/SEES404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref\#
        ":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/c\#
        omponents/responses/Problem417"},"429":{"$ref":"#/components/responses/SEES429"},"431":{"$ref":"#/components\#
        /responses/Problem431"},"500":{"$ref":"#/components/responses/SEES500"},"501":{"$ref":"#/components/response\#
        s/Problem501"},"503":{"$ref":"#/components/responses/SEES503"},"505":{"$ref":"#/components/responses/Problem\#
        505"}},"x-error-codes":["not_found"]},\#
        "options":{"operationId":"preflightEntitlementServer","tags":["cross-origin"],"summary":"What a browser ask\#
        s before it sends a request","security":[],"responses":{"204":{"$ref":"#/components/responses/Preflight"},"4\#
        00":{"$ref":"#/components/responses/ExpressPlay400"},"408":{"$ref":"#/components/responses/Problem408"},"413\#
        ":{"$ref":"#/components/responses/ExpressPlay413"},"414":{"$ref":"#/components/responses/Problem414"},"417":\#
        {"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/ExpressPlay429"},"431":{"\#
        $ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/ExpressPlay500"},"501":{"$r\#
        ef":"#/components/responses/Problem501"},"505":{"$ref":"#/components/responses/Problem505"}}}},\#
        "/speke":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeys","tags":["packagers"],"summary":"Keys by SPEKE, of the version that th\#
        e field names","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertifica\#
        te":[]}],"parameters":[{"$ref":"#/components/parameters/SPEKEVersion"}],"requestBody":{"required":true,"cont\#
        ent":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:c\#
        pix=\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/compon\#
        ents/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref"\#
        :"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/compon\#
        ents/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/res\#
        ponses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Pro\#
        blem414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"\#
        },"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"\#
        $ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#\#
        /components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/compone\#
        nts/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_\#
        type_unsupported","key_lost","rate_limited","storage_unavailable"]}},\#
        "/speke/v1.0/copyProtection":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeysV1","tags":["packagers"],"summary":"Keys by SPEKE v1","security":[{"packa\#
        gerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody":{"required"\#
        :true,"content":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:C\#
        PIX xmlns:cpix=\"urn:dashif:org:cpix\" contentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref\#
        ":"#/components/schemas/CPIXDocument"}}}},"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"4\#
        00":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref\#
        ":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/com\#
        ponents/responses/SPEKE409"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/re\#
        sponses/Problem414"},"415":{"$ref":"#/components/responses/SPEKE415"},"417":{"$ref":"#/components/responses/\#
        Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429\#
        "},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501"\#
        :{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref"\#
        :"#/components/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","cpix_reject\#
        ed","media_type_unsupported","key_lost","rate_limited","storage_unavailable"]}},\#
        "/speke/v2.0/copyProtection":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeysV20","tags":["packagers"],"summary":"Keys by SPEKE v2.0","security":[{"pa\#
        ckagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":\#
        "#/components/parameters/SPEKEVersion20"}],"requestBody":{"required":true,"content":{"application/xml":{"sch\#
        ema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" c\#
        ontentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}\#
        },"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/responses/SPEK\#
        E400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"413":{"$re\#
        f":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/co\#
        mponents/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components\#
        /responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses\#
        /Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem\#
        501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"\#
        x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","key_lost",\#
        "rate_limited","storage_unavailable"]}},\#
        "/speke/v2.1/copyProtection":{"x-listeners":["public"],\#
        "post":{"operationId":"exchangeKeysV21","tags":["packagers"],"summary":"Keys by SPEKE v2.1","security":[{"pa\#
        ckagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":[{"$ref":\#
        "#/components/parameters/SPEKEVersion21"}],"requestBody":{"required":true,"content":{"application/xml":{"sch\#
        ema":{"$ref":"#/components/schemas/CPIXDocument"},"example":"<cpix:CPIX xmlns:cpix=\"urn:dashif:org:cpix\" c\#
        ontentId=\"movie-1\" version=\"2.3\"/>"},"text/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}\#
        },"responses":{"200":{"$ref":"#/components/responses/FilledCPIX"},"400":{"$ref":"#/components/responses/SPEK\#
        E400"},"401":{"$ref":"#/components/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"40\#
        8":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/SPEKE409"},"413":{"$re\#
        f":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"415":{"$ref":"#/co\#
        mponents/responses/SPEKE415"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components\#
        /responses/SPEKE422"},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses\#
        /Problem431"},"500":{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem\#
        501"},"503":{"$ref":"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"\#
        x-error-codes":["packager_invalid","packager_forbidden","cpix_rejected","media_type_unsupported","key_lost",\#
        "rate_limited","storage_unavailable"]}},\#
        "/speke/v1.0/heartbeat":{"x-listeners":["public"],\#
        "get":{"operationId":"getHeartbeat","tags":["packagers"],"summary":"Whether SPEKE is served","security":[{"p\#
        ackagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"responses":{"200":{"\#
        description":"It is.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"\#
        $ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"const":"Latch\#
        key serves SPEKE\n"}}}},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/components/respons\#
        es/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/responses/Problem\#
        408"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Problem414"},"4\#
        17":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422"},"429":{"$r\#
        ef":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$ref":"#/c\#
        omponents/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/component\#
        s/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["packager_invali\#
        d","packager_forbidden","cpix_rejected","rate_limited","storage_unavailable"]},\#
        "head":{"operationId":"headGetHeartbeat","tags":["packagers"],"summary":"The fields of the answer to GET","s\#
        ecurity":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"respons\#
        es":{"200":{"description":"It is.","headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cach\#
        e-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"text/plain; charset=utf-8":{"schema":{"\#
        const":"Latchkey serves SPEKE\n"}}}},"400":{"$ref":"#/components/responses/SPEKE400"},"401":{"$ref":"#/compo\#
        nents/responses/SPEKE401"},"403":{"$ref":"#/components/responses/SPEKE403"},"408":{"$ref":"#/components/resp\#
        onses/Problem408"},"413":{"$ref":"#/components/responses/SPEKE413"},"414":{"$ref":"#/components/responses/Pr\#
        oblem414"},"417":{"$ref":"#/components/responses/Problem417"},"422":{"$ref":"#/components/responses/SPEKE422\#
        "},"429":{"$ref":"#/components/responses/SPEKE429"},"431":{"$ref":"#/components/responses/Problem431"},"500"\#
        :{"$ref":"#/components/responses/SPEKE500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref"\#
        :"#/components/responses/SPEKE503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["pa\#
        ckager_invalid","packager_forbidden","cpix_rejected","rate_limited","storage_unavailable"]}},\#
        "/v1/keys":{"x-listeners":["public"],\#
        "post":{"operationId":"orderKeys","tags":["packagers"],"summary":"Keys of a content, made or found","securit\#
        y":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"requestBody":\#
        {"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/KeyOrder"}}}},"respon\#
        ses":{"200":{"description":"The keys, in the order of the tracks.","headers":{"X-Request-Id":{"$ref":"#/comp\#
        onents/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"}},"content":{"applica\#
        tion/json":{"schema":{"$ref":"#/components/schemas/DeliveredKeys"}}}},"400":{"$ref":"#/components/responses/\#
        Problem400"},"401":{"$ref":"#/components/responses/Problem401"},"403":{"$ref":"#/components/responses/Proble\#
        m403"},"408":{"$ref":"#/components/responses/Problem408"},"409":{"$ref":"#/components/responses/Problem409"}\#
        ,"413":{"$ref":"#/components/responses/Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417"\#
        :{"$ref":"#/components/responses/Problem417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$re\#
        f":"#/components/responses/Problem431"},"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/\#
        components/responses/Problem501"},"503":{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/compon\#
        ents/responses/Problem505"}},"x-error-codes":["packager_invalid","packager_forbidden","key_conflict","key_lo\#
        st","rate_limited","storage_unavailable"]}},\#
        "/v1/keys/{contentId}":{"x-listeners":["public"],\#
        "parameters":[{"$ref":"#/components/parameters/PathContentId"}],\#
        "get":{"operationId":"getKeys","tags":["packagers"],"summary":"The keys of a content, in the form of a packa\#
        ger","security":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"\#
        parameters":[{"$ref":"#/components/parameters/KeyFormat"},{"$ref":"#/components/parameters/TrackLabel"},{"$r\#
        ef":"#/components/parameters/Period"},{"$ref":"#/components/parameters/AfterKey"},{"$ref":"#/components/para\#
        meters/KeyLimit"}],"responses":{"200":{"description":"A page of keys.","headers":{"X-Request-Id":{"$ref":"#/\#
        components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"Link":{"$ref":"\#
        #/components/headers/Link"}},"content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas\#
        /KeyPage"},{"description":"nginx-vod: an array of one object.","type":"array","minItems":1},{"description":"\#
        mediaconvert and bitmovin: their own objects.","type":"object","not":{"required":["contentId","keys"]}}]}},"\#
        text/plain; charset=utf-8":{"schema":{"description":"shaka, bento4, bento4-dash, bento4-hls, wowza, usp an\#
        d hls.","type":"string"}},"application/yaml":{"schema":{"description":"shaka-streamer.","type":"string"}},"a\#
        pplication/xml":{"schema":{"description":"gpac and cpix.","type":"string"}},"application/octet-stream":{"sch\#
        ema":{"description":"mediafilesegmenter: 16 bytes of key, 16 of vector.","type":"string","contentMediaType":\#
        "application/octet-stream"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/component\#
        s/responses/Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/resp\#
        onses/Problem404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/\#
        Problem413"},"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Proble\#
        m417"},"429":{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"}\#
        ,"500":{"$ref":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503"\#
        :{"$ref":"#/components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-c\#
        odes":["key_not_found","packager_invalid","packager_forbidden","rate_limited","storage_unavailable","not_fou\#
        nd"]},\#
        "head":{"operationId":"headGetKeys","tags":["packagers"],"summary":"The fields of the answer to GET","securi\#
        ty":[{"packagerBasic":[]},{"packagerBearer":[]},{"packagerKey":[]},{"packagerCertificate":[]}],"parameters":\#
        [{"$ref":"#/components/parameters/KeyFormat"},{"$ref":"#/components/parameters/TrackLabel"},{"$ref":"#/compo\#
        nents/parameters/Period"},{"$ref":"#/components/parameters/AfterKey"},{"$ref":"#/components/parameters/KeyLi\#
        mit"}],"responses":{"200":{"description":"A page of keys.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"Link":{"$ref":"#/components\#
        /headers/Link"}},"content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/KeyPage"},{\#
        "description":"nginx-vod: an array of one object.","type":"array","minItems":1},{"description":"mediaconver\#
        t and bitmovin: their own objects.","type":"object","not":{"required":["contentId","keys"]}}]}},"text/plain\#
        ; charset=utf-8":{"schema":{"description":"shaka, bento4, bento4-dash, bento4-hls, wowza, usp and hls.","typ\#
        e":"string"}},"application/yaml":{"schema":{"description":"shaka-streamer.","type":"string"}},"application/x\#
        ml":{"schema":{"description":"gpac and cpix.","type":"string"}},"application/octet-stream":{"schema":{"descr\#
        iption":"mediafilesegmenter: 16 bytes of key, 16 of vector.","type":"string","contentMediaType":"application\#
        /octet-stream"}}}},"400":{"$ref":"#/components/responses/Problem400"},"401":{"$ref":"#/components/responses/\#
        Problem401"},"403":{"$ref":"#/components/responses/Problem403"},"404":{"$ref":"#/components/responses/Proble\#
        m404"},"408":{"$ref":"#/components/responses/Problem408"},"413":{"$ref":"#/components/responses/Problem413"}\#
        ,"414":{"$ref":"#/components/responses/Problem414"},"417":{"$ref":"#/components/responses/Problem417"},"429"\#
        :{"$ref":"#/components/responses/Problem429"},"431":{"$ref":"#/components/responses/Problem431"},"500":{"$re\#
        f":"#/components/responses/Problem500"},"501":{"$ref":"#/components/responses/Problem501"},"503":{"$ref":"#/\#
        components/responses/Problem503"},"505":{"$ref":"#/components/responses/Problem505"}},"x-error-codes":["key_\#
        not_found","packager_invalid","packager_forbidden","rate_limited","storage_unavailable","not_found"]}}},\#
        "components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer","bearerFormat":"JWT","description"\#
        :"A token of a configured issuer, or the session token of the licence before."},\#
        "nvAuthorizations":{"type":"apiKey","in":"header","name":"nv-authorizations","description":"The same in NAGR\#
        A's header: up to eight tokens with commas between. Refusals are then in NAGRA's manner."},\#
        "axinomMessage":{"type":"apiKey","in":"header","name":"X-AxDRM-Message","description":"The same in Axinom'\#
        s header."},\#
        "axinomQuery":{"type":"apiKey","in":"query","name":"AxDrmMessage","description":"The same in Axinom's query.\#
        "},\#
        "drmToday":{"type":"apiKey","in":"header","name":"x-dt-auth-token","description":"The same in castLabs' head\#
        er."},\#
        "drmCloud":{"type":"apiKey","in":"header","name":"X-Drm-UserToken","description":"The same in drm.cloud's he\#
        ader."},\#
        "expressPlayToken":{"type":"apiKey","in":"header","name":"ExpressPlayToken","description":"The same in Expre\#
        ssPlay's header."},\#
        "expressPlayQuery":{"type":"apiKey","in":"query","name":"ExpressPlayToken","description":"The same in Expres\#
        sPlay's query."},\#
        "tokenQuery":{"type":"apiKey","in":"query","name":"token","description":"The same in the query."},\#
        "userTokenQuery":{"type":"apiKey","in":"query","name":"UserToken","description":"The same in the query."},\#
        "drmTokenQuery":{"type":"apiKey","in":"query","name":"drm_token","description":"The same in the query."},\#
        "packagerBasic":{"type":"http","scheme":"basic","description":"The packager's name and secret."},\#
        "packagerBearer":{"type":"http","scheme":"bearer","description":"The packager's secret."},\#
        "packagerKey":{"type":"apiKey","in":"header","name":"x-api-key","description":"The packager's secret."},\#
        "packagerCertificate":{"type":"mutualTLS","description":"A client certificate that is configured for the pac\#
        kager."},\#
        "customerAuthenticator":{"type":"apiKey","in":"query","name":"customerAuthenticator","description":"The auth\#
        enticator of a customer, which may be a member of the form instead."},\#
        "entitlementServer":{"type":"http","scheme":"bearer","description":"The secret of `expressPlay.sees`."},\#
        "entitlementServerCertificate":{"type":"mutualTLS","description":"A client certificate that `expressPlay.see\#
        s.clients` names."},\#
        "adminToken":{"type":"http","scheme":"bearer","description":"A token of the admin listener, whose roles sa\#
        y what it may do. A loopback listener without a credential answers every process of its machine, and change\#
        s nothing for it."}},\#
        "parameters":{"Offline":{"name":"offline","in":"query","description":"Asks for a licence that the device ma\#
        y keep (`1`, `true`, or nothing), or may not.","schema":{"enum":["","0","1","true","false"]},"example":"1","\#
        allowEmptyValue":true},\#
        "Renew":{"name":"renew","in":"query","description":"Says that the request renews a licence.","schema":{"enum\#
        ":["","0","1","true","false"]},"example":"true","allowEmptyValue":true},\#
        "Previous":{"name":"previous","in":"query","description":"The id of the licence that is renewed, as `X-Licen\#
        se-Id` had it.","schema":{"type":"string"}},\#
        "Format":{"name":"format","in":"query","description":"The shape of the answer. Without it the path, `Accept\#
        ` and the shape of the request decide.","schema":{"enum":["raw","base64","ckc","json","kaltura","nagra"]},"e\#
        xample":"json"},\#
        "AssetId":{"name":"assetId","in":"query","description":"Names the key. A hint only: the SPC decides, and a n\#
        ame of another key is refused.","schema":{"type":"string"}},\#
        "ContentIdHint":{"name":"contentId","in":"query","description":"Names the key. A hint only: the SPC decides\#
        , and a name of another key is refused.","schema":{"type":"string"}},\#
        "KIDHint":{"name":"KID","in":"query","description":"Names the key. A hint only: the SPC decides, and a nam\#
        e of another key is refused.","schema":{"type":"string"}},\#
        "VideoId":{"name":"videoId","in":"query","description":"Names the key. A hint only: the SPC decides, and a n\#
        ame of another key is refused.","schema":{"type":"string"}},\#
        "KIDField":{"name":"KID","in":"header","description":"Names the key, as the parameters of the query do.","sc\#
        hema":{"type":"string"}},\#
        "RenewField":{"name":"X-License-Renew","in":"header","description":"`1` says the same as `renew=true`.","sch\#
        ema":{"type":"string"},"example":"1"},\#
        "TraceParent":{"name":"traceparent","in":"header","description":"The trace of the request (W3C Trace Context\#
        ). It is logged, and passed on to the entitlement service. An invalid one is ignored.","schema":{"type":"str\#
        ing"},"example":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},\#
        "TraceState":{"name":"tracestate","in":"header","description":"Passed on with `traceparent` if it has at mos\#
        t 512 bytes.","schema":{"type":"string"},"example":"congo=t61rcWkgMzE"},\#
        "Credential":{"name":"credential","in":"query","description":"The credential's name; the first one unless gi\#
        ven.","schema":{"type":"string"},"example":"main"},\#
        "Size":{"name":"size","in":"query","description":"One of the two certificates; the bundle of both unless giv\#
        en.","schema":{"enum":["1024","2048"]},"example":"2048"},\#
        "CertificateFormat":{"name":"format","in":"query","description":"How the certificate is written.","schema":{\#
        "enum":["raw","base64","pem","json"]},"example":"pem"},\#
        "IfNoneMatch":{"name":"If-None-Match","in":"header","description":"The entity tags that the client has.","sc\#
        hema":{"type":"string"}},\#
        "PathKeyId":{"name":"kid","in":"path","required":true,"description":"Names the key: a hint, 2 to 1,024 bytes\#
        .","schema":{"type":"string","minLength":2,"maxLength":1024},"example":"movie-42"},\#
        "Prefix":{"name":"prefix","in":"path","required":true,"description":"One segment or more, which say nothing.\#
        ","schema":{"type":"string","minLength":1},"example":"tenant"},\#
        "PathContentId":{"name":"contentId","in":"path","required":true,"description":"The content id, percent-encod\#
        ed: 1 to 200 printable ASCII characters without space.","schema":{"type":"string","pattern":"^[!-~]{1,200}$"\#
        },"example":"movie-42"},\#
        "KeyFormat":{"name":"format","in":"query","description":"The form of a packager.","schema":{"enum":["json","\#
        shaka","shaka-streamer","bento4","bento4-dash","bento4-hls","gpac","nginx-vod","wowza","usp","mediaconvert",\#
        "bitmovin","mediafilesegmenter","cpix","hls"]},"example":"shaka"},\#
        "TrackLabel":{"name":"track","in":"query","description":"Only keys of this label.","schema":{"type":"string"\#
        ,"minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},"example":"HD"},\#
        "Period":{"name":"period","in":"query","description":"Only keys of this period.","schema":{"type":"integer",\#
        "minimum":0,"maximum":4294967295},"example":7},\#
        "AfterKey":{"name":"after","in":"query","description":"The key id behind which the page begins.","schema":{"\#
        type":"string","format":"uuid"}},\#
        "KeyLimit":{"name":"limit","in":"query","description":"How many keys a page has.","schema":{"type":"integer"\#
        ,"minimum":1,"maximum":64},"example":64},\#
        "SPEKEVersion":{"name":"X-Speke-Version","in":"header","description":"The version of SPEKE, with which pat\#
        h and document must agree. SPEKE v1 has no such field.","schema":{"enum":["2.0","2.1"]},"example":"2.0"},\#
        "FormErrorFormat":{"name":"errorFormat","in":"query","description":"As the member `errorFormat` of the form.\#
        ","schema":{"enum":["html","json"]}},\#
        "FormGeneralFlags":{"name":"generalFlags","in":"query","description":"As the member `generalFlags` of the fo\#
        rm.","schema":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})$"}},\#
        "FormContentKey":{"name":"contentKey","in":"query","description":"As the member `contentKey` of the form.","\#
        schema":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"}},\#
        "FormKek":{"name":"kek","in":"query","description":"As the member `kek` of the form.","schema":{"type":"stri\#
        ng","pattern":"^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9A-Fa-f]{64})$"}},\#
        "FormEk":{"name":"ek","in":"query","description":"As the member `ek` of the form.","schema":{"type":"string"\#
        ,"pattern":"^[0-9A-Fa-f]{48}$"}},\#
        "FormKid":{"name":"kid","in":"query","description":"As the member `kid` of the form.","schema":{"type":"stri\#
        ng","pattern":"^([0-9A-Fa-f]{32}|\\^[!-~]{1,64})$"}},\#
        "FormIv":{"name":"iv","in":"query","description":"As the member `iv` of the form.","schema":{"type":"string"\#
        ,"pattern":"^[0-9A-Fa-f]{32}$"}},\#
        "FormRentalDuration":{"name":"rentalDuration","in":"query","description":"As the member `rentalDuration` o\#
        f the form.","schema":{"type":"integer","minimum":0,"maximum":4294967294}},\#
        "FormFpExtension":{"name":"fpExtension","in":"query","description":"As the member `fpExtension` of the form.\#
        ","schema":{"type":"string"}},\#
        "FormExpirationTime":{"name":"expirationTime","in":"query","description":"RFC 3339 in UTC, or `+` and second\#
        s; 30 days at most.","schema":{"type":"string"}},\#
        "FormCookie":{"name":"cookie","in":"query","description":"As the member `cookie` of the form.","schema":{"ty\#
        pe":"string","maxLength":32}},\#
        "FormLatchkeylease":{"name":"latchkey.lease","in":"query","description":"As the member `latchkey.lease` of t\#
        he form.","schema":{"type":"integer","minimum":1,"maximum":4294967294}},\#
        "FormLatchkeydevice":{"name":"latchkey.device","in":"query","description":"As the member `latchkey.device` o\#
        f the form.","schema":{"type":"string"}},\#
        "FormLatchkeybind":{"name":"latchkey.bind","in":"query","description":"As the member `latchkey.bind` of th\#
        e form.","schema":{"enum":["first","none"]}},\#
        "FormLatchkeyuses":{"name":"latchkey.uses","in":"query","description":"As the member `latchkey.uses` of th\#
        e form.","schema":{"type":"integer","minimum":1,"maximum":4294967295}},\#
        "FormLatchkeyhdcp":{"name":"latchkey.hdcp","in":"query","description":"As the member `latchkey.hdcp` of th\#
        e form.","schema":{"enum":["none","type0","type1"]}},\#
        "FormRightsType":{"name":"rightsType","in":"query","description":"As the member `rightsType` of the form.","\#
        schema":{"enum":["BuyToOwn","Rental"]}},\#
        "FormRentalperiodEndTime":{"name":"rental.periodEndTime","in":"query","description":"As the member `rental.p\#
        eriodEndTime` of the form.","schema":{"type":"string"}},\#
        "FormRentalplayDuration":{"name":"rental.playDuration","in":"query","description":"As the member `rental.pla\#
        yDuration` of the form.","schema":{"type":"integer","minimum":0}},\#
        "FormAnalogVideoOPL":{"name":"analogVideoOPL","in":"query","description":"As the member `analogVideoOPL` o\#
        f the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormCompressedDigitalAudioOPL":{"name":"compressedDigitalAudioOPL","in":"query","description":"As the membe\#
        r `compressedDigitalAudioOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormCompressedDigitalVideoOPL":{"name":"compressedDigitalVideoOPL","in":"query","description":"As the membe\#
        r `compressedDigitalVideoOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormUncompressedDigitalAudioOPL":{"name":"uncompressedDigitalAudioOPL","in":"query","description":"As the m\#
        ember `uncompressedDigitalAudioOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormUncompressedDigitalVideoOPL":{"name":"uncompressedDigitalVideoOPL","in":"query","description":"As the m\#
        ember `uncompressedDigitalVideoOPL` of the form.","schema":{"type":"integer","minimum":0,"maximum":999}},\#
        "FormPrFlag":{"name":"prFlag","in":"query","description":"As the member `prFlag` of the form.","schema":{"ty\#
        pe":"string","pattern":"^[0-9A-Fa-f]{8}$"}},\#
        "FormUseHttps":{"name":"useHttps","in":"query","description":"As the member `useHttps` of the form.","schema\#
        ":{"enum":["true","false","1","0"]}},\#
        "SPEKEVersion20":{"name":"X-Speke-Version","in":"header","required":true,"description":"The version of SPEKE\#
        .","schema":{"const":"2.0"},"example":"2.0"},\#
        "SPEKEVersion21":{"name":"X-Speke-Version","in":"header","required":true,"description":"The version of SPEKE\#
        .","schema":{"const":"2.1"},"example":"2.1"}},\#
        "requestBodies":{"LicenceRequest":{"description":"An SPC in any shape that players send. The body alone deci\#
        des what it is; of `Content-Type` only the boundary of a multipart body is read.","required":true,"content":\#
        {"application/octet-stream":{"schema":{"$ref":"#/components/schemas/SPC"}},"application/x-www-form-urlencode\#
        d":{"schema":{"$ref":"#/components/schemas/LicenceForm"}},"multipart/form-data":{"schema":{"$ref":"#/compone\#
        nts/schemas/LicenceParts"}},"text/plain":{"schema":{"$ref":"#/components/schemas/Base64SPC"},"example":"AAAA\#
        AQ=="},"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/LicenceObject"},{"$ref":"#/compo\#
        nents/schemas/GetFairplayLicense"},{"$ref":"#/components/schemas/KeyRequestArray"},{"$ref":"#/components/sch\#
        emas/StreamingKeysRequest"}]}},"application/x-plist":{"schema":{"$ref":"#/components/schemas/SessionReport"}\#
        },"text/xml":{"schema":{"$ref":"#/components/schemas/PropertyListText"}}}}},\#
        "headers":{"RequestId":{"description":"The id of the request, by which the log and `GET /v1/refusals/{reques\#
        tId}` know it.","required":true,"schema":{"type":"string","pattern":"^[0-9a-f]{16}$"},"example":"5f0c2b7e91d\#
        3a846"},\#
        "ErrorCode":{"description":"The code of the refusal, for clients that drop bodies. At addresses of ExpressPl\#
        ay's back ends it may be ExpressPlay's number.","required":false,"schema":{"type":"string","minLength":1},"e\#
        xample":"token_missing"},\#
        "Challenge":{"description":"Which credentials are accepted: `Bearer`, and for packagers `Basic`.","schema":{\#
        "type":"string"},"example":"Bearer"},\#
        "RetryAfter":{"description":"The least wait in seconds. Not every refusal has one.","schema":{"type":"intege\#
        r","minimum":0},"example":2},\#
        "CacheControl":{"description":"How long caches may keep the answer.","schema":{"type":"string"},"example":"n\#
        o-store"},\#
        "LicenseId":{"description":"The id of the licence.","schema":{"type":"string"},"example":"AZq0Zk1vcPOBkXvS0h\#
        E8nQ"},\#
        "LicenseType":{"description":"The validity of the licence.","schema":{"type":"string"},"example":"lease"},\#
        "LicenseIssued":{"description":"When the licence was issued, in seconds since 1970.","schema":{"type":"integ\#
        er"},"example":1769860800},\#
        "LicenseExpires":{"description":"When the licence ends, in seconds since 1970. Absent if it has no end.","sc\#
        hema":{"type":"integer"},"example":1769861100},\#
        "LicenseRenewAfter":{"description":"When to ask for a renewal, in seconds since 1970. Absent if there is not\#
        hing to renew.","schema":{"type":"integer"},"example":1769861000},\#
        "SessionToken":{"description":"The token to present for the next renewal. Absent if there is nothing to rene\#
        w.","schema":{"type":"string"}},\#
        "ETag":{"description":"A strong entity tag, which differs from format to format.","schema":{"type":"string"}\#
        ,"example":"\"0f3a\""},\#
        "Link":{"description":"The address of the next page with `rel=\"next\"`. Absent on the last page.","schema":\#
        {"type":"string"}},\#
        "Allow":{"description":"The methods of the address.","schema":{"type":"string"},"example":"GET, HEAD, OPTION\#
        S"},\#
        "AllowOrigin":{"description":"The origins whose pages may read the answer. Absent for other origins.","schem\#
        a":{"type":"string"}},\#
        "SPEKEVersion":{"description":"The version of SPEKE. Absent for SPEKE v1.","schema":{"enum":["2.0","2.1"]},"\#
        example":"2.0"},\#
        "SPEKEUserAgent":{"description":"The name of this server. SPEKE v1 calls the field `Speke-User-Agent`.","sch\#
        ema":{"type":"string"}}},\#
        "responses":{"Certificate":{"description":"The certificates, in the form that the query or the path names.",\#
        "headers":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/he\#
        aders/CacheControl"},"ETag":{"$ref":"#/components/headers/ETag"}},"content":{"application/octet-stream":{"sc\#
        hema":{"description":"DER; of a bundle one behind the other.","type":"string","contentMediaType":"applicatio\#
        n/octet-stream"}},"text/plain; charset=utf-8":{"schema":{"$ref":"#/components/schemas/CertificateBase64"}},"\#
        application/x-pem-file":{"schema":{"type":"string","pattern":"^-----BEGIN CERTIFICATE-----"}},"application/j\#
        son":{"schema":{"type":"object","required":["certificate"],"properties":{"certificate":{"type":"string","con\#
        tentEncoding":"base64","minLength":1}},"additionalProperties":false}}}},\#
        "CertificateNotModified":{"description":"The client has this certificate.","headers":{"X-Request-Id":{"$ref"\#
        :"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"ETag":{"$re\#
        f":"#/components/headers/ETag"}}},\#
        "ExpressPlay400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"ap\#
        plication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"text/html; charset=utf-8":{"s\#
        chema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/s\#
        chemas/ExpressPlayError"}}}},\#
        "ExpressPlay401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id"\#
        :{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Aut\#
        henticate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref\#
        ":"#/components/schemas/Problem401"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/Exp\#
        ressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id"\#
        :{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-A\#
        fter":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#\#
        /components/schemas/Problem403"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/schemas/Express\#
        PlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{\#
        "application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"text/html; charset=utf-8":\#
        {"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/component\#
        s/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":\#
        "#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appl\#
        ication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"text/html; charset=utf-8":{"sch\#
        ema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/sch\#
        emas/ExpressPlayError"}}}},\#
        "ExpressPlay413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+j\#
        son":{"schema":{"$ref":"#/components/schemas/Problem413"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/c\#
        omponents/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayE\#
        rror"}}}},\#
        "ExpressPlay422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-\#
        Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"con\#
        tent":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/html; charset=\#
        utf-8":{"schema":{"$ref":"#/components/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/co\#
        mponents/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X\#
        -Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCod\#
        e"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema\#
        ":{"$ref":"#/components/schemas/Problem429"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/components/sch\#
        emas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayError"}}}},\#
        "ExpressPlay500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/hea\#
        ders/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+j\#
        son":{"schema":{"$ref":"#/components/schemas/Problem500"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/c\#
        omponents/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayE\#
        rror"}}}},\#
        "ExpressPlay503":{"description":"Something that the server depends on does not answer. Try again later.","he\#
        aders":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/header\#
        s/ErrorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json\#
        ":{"schema":{"$ref":"#/components/schemas/Problem503"}},"text/html; charset=utf-8":{"schema":{"$ref":"#/comp\#
        onents/schemas/ExpressPlayPage"}},"application/json":{"schema":{"$ref":"#/components/schemas/ExpressPlayErro\#
        r"}}}},\#
        "FilledCPIX":{"description":"The same document with keys.","headers":{"X-Request-Id":{"$ref":"#/components/h\#
        eaders/RequestId"},"Cache-Control":{"$ref":"#/components/headers/CacheControl"},"X-Speke-Version":{"$ref":"#\#
        /components/headers/SPEKEVersion"},"X-Speke-User-Agent":{"$ref":"#/components/headers/SPEKEUserAgent"}},"con\#
        tent":{"application/xml":{"schema":{"$ref":"#/components/schemas/CPIXDocument"}}}},\#
        "Licence":{"description":"The licence, in the shape that the player reads; or, in shapes with a result for e\#
        ach key, each key's result. A report of ended sessions is answered with the word `acknowledged`.","headers":\#
        {"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"Cache-Control":{"$ref":"#/components/headers/Cach\#
        eControl"},"X-License-Id":{"$ref":"#/components/headers/LicenseId"},"X-License-Type":{"$ref":"#/components/h\#
        eaders/LicenseType"},"X-License-Issued":{"$ref":"#/components/headers/LicenseIssued"},"X-License-Expires":{"\#
        $ref":"#/components/headers/LicenseExpires"},"X-License-Renew-After":{"$ref":"#/components/headers/LicenseRe\#
        newAfter"},"X-Session-Token":{"$ref":"#/components/headers/SessionToken"}},"content":{"application/octet-str\#
        eam":{"schema":{"description":"The bytes of the CKC.","type":"string","contentMediaType":"application/octet-\#
        stream"}},"text/plain; charset=utf-8":{"schema":{"description":"The Base64 of the CKC, `<ckc>` and `</ckc>\#
        ` around it, or `acknowledged`.","type":"string","minLength":1}},"application/json":{"schema":{"$ref":"#/com\#
        ponents/schemas/LicenceJSON"}}}},\#
        "Player400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/\#
        components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applica\#
        tion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"application/json":{"schema":{"$ref\#
        ":"#/components/schemas/NAGRAProblem400"}}}},\#
        "Player401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$r\#
        ef":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authenti\#
        cate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/\#
        components/schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem401"\#
        }}}},\#
        "Player403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$r\#
        ef":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After"\#
        :{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/comp\#
        onents/schemas/Problem403"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAProblem403"}}}}\#
        ,\#
        "Player404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":\#
        "#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appl\#
        ication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"application/json":{"schema":{"$\#
        ref":"#/components/schemas/NAGRAProblem404"}}}},\#
        "Player409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicati\#
        on/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"application/json":{"schema":{"$ref":\#
        "#/components/schemas/NAGRAProblem409"}}}},\#
        "Player422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":{\#
        "$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content"\#
        :{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"application/json":{"sche\#
        ma":{"$ref":"#/components/schemas/NAGRAProblem422"}}}},\#
        "Player429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Requ\#
        est-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"\#
        Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$\#
        ref":"#/components/schemas/Problem429"}},"application/json":{"schema":{"$ref":"#/components/schemas/NAGRAPro\#
        blem429"}}}},\#
        "Player500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/\#
        RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":\#
        {"schema":{"$ref":"#/components/schemas/Problem500"}},"application/json":{"schema":{"$ref":"#/components/sch\#
        emas/NAGRAProblem500"}}}},\#
        "Player503":{"description":"Something that the server depends on does not answer. Try again later.","headers\#
        ":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Err\#
        orCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"s\#
        chema":{"$ref":"#/components/schemas/Problem503"}},"application/json":{"schema":{"$ref":"#/components/schema\#
        s/NAGRAProblem503"}}}},\#
        "Preflight":{"description":"The methods of the address, or every method if nothing is there. The `Access-Con\#
        trol` fields are there for pages that may read answers.","headers":{"Allow":{"$ref":"#/components/headers/Al\#
        low"},"Access-Control-Allow-Origin":{"$ref":"#/components/headers/AllowOrigin"}}},\#
        "Problem400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}}}},\#
        "Problem401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authent\#
        icate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#\#
        /components/schemas/Problem401"}}}},\#
        "Problem403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After\#
        ":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/com\#
        ponents/schemas/Problem403"}}}},\#
        "Problem404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref"\#
        :"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"app\#
        lication/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}}}},\#
        "Problem408":{"description":"The request did not arrive in time. The connection closes.","headers":{"X-Reque\#
        st-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"\#
        content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem408"}}}},\#
        "Problem409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/c\#
        omponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicat\#
        ion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}}}},\#
        "Problem413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components/headers\#
        /RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json"\#
        :{"schema":{"$ref":"#/components/schemas/Problem413"}}}},\#
        "Problem414":{"description":"The request target is too long.","headers":{"X-Request-Id":{"$ref":"#/component\#
        s/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/prob\#
        lem+json":{"schema":{"$ref":"#/components/schemas/Problem414"}}}},\#
        "Problem417":{"description":"No expectation but 100-continue is served.","headers":{"X-Request-Id":{"$ref":"\#
        #/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"appli\#
        cation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem417"}}}},\#
        "Problem429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Req\#
        uest-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},\#
        "Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"\#
        $ref":"#/components/schemas/Problem429"}}}},\#
        "Problem431":{"description":"The request head is too large.","headers":{"X-Request-Id":{"$ref":"#/components\#
        /headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/probl\#
        em+json":{"schema":{"$ref":"#/components/schemas/Problem431"}}}},\#
        "Problem500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers\#
        /RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json"\#
        :{"schema":{"$ref":"#/components/schemas/Problem500"}}}},\#
        "Problem501":{"description":"The method or the transfer coding is not served.","headers":{"X-Request-Id":{"$\#
        ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{\#
        "application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem501"}}}},\#
        "Problem503":{"description":"Something that the server depends on does not answer. Try again later.","header\#
        s":{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Er\#
        rorCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"\#
        schema":{"$ref":"#/components/schemas/Problem503"}}}},\#
        "Problem505":{"description":"This HTTP version is not served.","headers":{"X-Request-Id":{"$ref":"#/componen\#
        ts/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/pro\#
        blem+json":{"schema":{"$ref":"#/components/schemas/Problem505"}}}},\#
        "SEES400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/co\#
        mponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicati\#
        on/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"application/json":{"schema":{"$ref":\#
        "#/components/schemas/SEESAnswer"}}}},\#
        "SEES401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authentica\#
        te":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/co\#
        mponents/schemas/Problem401"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},\#
        "SEES403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$ref\#
        ":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":{\#
        "$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compon\#
        ents/schemas/Problem403"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer"}}}},\#
        "SEES404":{"description":"There is nothing at this address, or no key.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem404"}},"application/json":{"schema":{"$re\#
        f":"#/components/schemas/SEESAnswer"}}}},\#
        "SEES429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Reques\#
        t-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Re\#
        try-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$re\#
        f":"#/components/schemas/Problem429"}},"application/json":{"schema":{"$ref":"#/components/schemas/SEESAnswer\#
        "}}}},\#
        "SEES500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/Re\#
        questId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{"\#
        schema":{"$ref":"#/components/schemas/Problem500"}},"application/json":{"schema":{"$ref":"#/components/schem\#
        as/SEESAnswer"}}}},\#
        "SEES503":{"description":"Something that the server depends on does not answer. Try again later.","headers":\#
        {"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Error\#
        Code"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"sch\#
        ema":{"$ref":"#/components/schemas/Problem503"}},"application/json":{"schema":{"$ref":"#/components/schemas/\#
        SEESAnswer"}}}},\#
        "SPEKE400":{"description":"The request is not one that is read here.","headers":{"X-Request-Id":{"$ref":"#/c\#
        omponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicat\#
        ion/problem+json":{"schema":{"$ref":"#/components/schemas/Problem400"}},"text/plain; charset=utf-8":{"schema\#
        ":{"type":"string"}}}},\#
        "SPEKE401":{"description":"The credential is missing, or proves too little.","headers":{"X-Request-Id":{"$re\#
        f":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"WWW-Authentic\#
        ate":{"$ref":"#/components/headers/Challenge"}},"content":{"application/problem+json":{"schema":{"$ref":"#/c\#
        omponents/schemas/Problem401"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},\#
        "SPEKE403":{"description":"The credential is good, and does not allow this.","headers":{"X-Request-Id":{"$re\#
        f":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"Retry-After":\#
        {"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/compo\#
        nents/schemas/Problem403"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},\#
        "SPEKE409":{"description":"The request contradicts what is stored.","headers":{"X-Request-Id":{"$ref":"#/com\#
        ponents/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applicatio\#
        n/problem+json":{"schema":{"$ref":"#/components/schemas/Problem409"}},"text/plain; charset=utf-8":{"schema":\#
        {"type":"string"}}}},\#
        "SPEKE413":{"description":"The body is too large.","headers":{"X-Request-Id":{"$ref":"#/components/headers/R\#
        equestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{\#
        "schema":{"$ref":"#/components/schemas/Problem413"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}\#
        }}},\#
        "SPEKE415":{"description":"The body has a media type that is not read.","headers":{"X-Request-Id":{"$ref":"#\#
        /components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"applic\#
        ation/problem+json":{"schema":{"$ref":"#/components/schemas/Problem415"}},"text/plain; charset=utf-8":{"sche\#
        ma":{"type":"string"}}}},\#
        "SPEKE422":{"description":"The body was read, and is not one that is answered.","headers":{"X-Request-Id":{"\#
        $ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":\#
        {"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem422"}},"text/plain; charset=utf-8\#
        ":{"schema":{"type":"string"}}}},\#
        "SPEKE429":{"description":"Too many requests, or the server has more to do than it can.","headers":{"X-Reque\#
        st-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"},"R\#
        etry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$r\#
        ef":"#/components/schemas/Problem429"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}},\#
        "SPEKE500":{"description":"A fault of the server.","headers":{"X-Request-Id":{"$ref":"#/components/headers/R\#
        equestId"},"X-Error-Code":{"$ref":"#/components/headers/ErrorCode"}},"content":{"application/problem+json":{\#
        "schema":{"$ref":"#/components/schemas/Problem500"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}\#
        }}},\#
        "SPEKE503":{"description":"Something that the server depends on does not answer. Try again later.","headers"\#
        :{"X-Request-Id":{"$ref":"#/components/headers/RequestId"},"X-Error-Code":{"$ref":"#/components/headers/Erro\#
        rCode"},"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"sc\#
        hema":{"$ref":"#/components/schemas/Problem503"}},"text/plain; charset=utf-8":{"schema":{"type":"string"}}}}\#
        },\#
        "schemas":{"ErrorCode":{"description":"The codes of refusals. They do not change between versions. Their sta\#
        tuses are in the schemas `Problem400` and so on.","type":"string","enum":["body_empty","body_unrecognised","\#
        spc_is_certificate","spc_double_base64","spc_version_unsupported","spc_malformed","spc_certificate_unknown",\#
        "spc_rejected","spc_replayed","token_missing","token_ambiguous","token_malformed","token_alg","kid_unknown",\#
        "kid_revoked","token_signature","token_expired","token_not_yet","token_life","token_audience","token_issuer"\#
        ,"token_schema","token_used","token_revoked","subject_disabled","device_revoked","ip_denied","geo_denied","c\#
        ontent_mismatch","offline_not_allowed","right_not_started","right_ended","device_mismatch","device_limit","c\#
        oncurrency_limit","session_expired","session_killed","key_not_found","key_store_timeout","admin_token_invali\#
        d","admin_role_missing","admin_origin_refused","packager_invalid","packager_forbidden","cpix_rejected","medi\#
        a_type_unsupported","key_conflict","key_lost","rate_limited","overloaded","entitlement_denied","entitlement_\#
        unavailable","terms_not_expressible","security_level","storage_unavailable","clock_untrusted","module_unavai\#
        lable","not_found","method_not_allowed","bad_request","request_timeout","body_too_large","uri_too_long","hea\#
        d_too_large","expectation_failed","not_implemented","version_not_supported","internal"]},\#
        "Problem":{"type":"object","required":["type","title","status","detail","code","request_id","server_time","h\#
        int"],"properties":{"type":{"type":"string","format":"uri","description":"`urn:latchkey:error:` and the code\#
        , or a type of DASH-IF."},"title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},"\#
        code":{"$ref":"#/components/schemas/ErrorCode"},"request_id":{"type":"string","pattern":"^[0-9a-f]{16}$"},"s\#
        erver_time":{"type":"string","format":"date-time"},"hint":{"type":"string","description":"What to do about i\#
        t."},"retry_after":{"type":"integer","minimum":0,"description":"The least wait in seconds."},"expired_ago":{\#
        "type":"integer","description":"Of `token_expired`, in seconds."},"valid_in":{"type":"integer","description"\#
        :"Of `token_not_yet`, in seconds."},"claim":{"type":"string","description":"Of `token_schema`."},"current":{\#
        "type":"integer","description":"Of `concurrency_limit`: playbacks that run."},"max":{"type":"integer","descr\#
        iption":"Of `concurrency_limit`: playbacks that may run."},"term":{"type":"string","description":"Of `terms_\#
        not_expressible`: what the device cannot be told."},"parameter":{"type":"string","description":"Of `bad_requ\#
        est`: the part of the query that is not readable."},"member":{"type":"string","description":"Of `bad_request\#
        ` at `/v1/keys`: the part of the body or of the query that is wrong."},"header":{"type":"string","descriptio\#
        n":"Of `token_missing`: a header that is not read and looks as if it had a token."},"certificate_hash":{"typ\#
        e":"string","description":"Of `spc_certificate_unknown`."},"held_hashes":{"type":"string","description":"O\#
        f `spc_certificate_unknown`."}},"description":"A refusal (RFC 9457).","example":{"type":"urn:latchkey:error:\#
        right_ended","title":"The right has ended","status":403,"detail":"The right has ended.","code":"right_ended"\#
        ,"request_id":"5f0c2b7e91d3a846","server_time":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a righ\#
        t that has not ended."}},\#
        "NAGRAProblem":{"description":"A refusal for clients of NAGRA's dialect: the members of `Problem` after a nu\#
        mber.","allOf":[{"$ref":"#/components/schemas/Problem"}],"required":["errorCode"],"properties":{"errorCode":\#
        {"type":"integer"}},"example":{"errorCode":4000,"type":"urn:latchkey:error:right_ended","title":"The right h\#
        as ended","status":403,"detail":"The right has ended.","code":"right_ended","request_id":"5f0c2b7e91d3a846",\#
        "server_time":"2026-01-31T12:00:00.000Z","hint":"Fetch a token with a right that has not ended."}},\#
        "ExpressPlayCode":{"description":"ExpressPlay's numbers.","type":"integer","enum":[-2002,-2003,-2005,-2008,-\#
        2017,-2018,-2019,-2020,-2021,-2022,-2023,-2025,-2027,-2030,-2031,-2033,-2034,-2035,-2036,-2037,-2040,-3004,-\#
        4001,-4010,-4018,-4019,-4020,-4021,-4022,-4024,-5003,-6001,-6003,-6004,-6005,-6007,-6008]},\#
        "ExpressPlayError":{"type":"object","required":["errorMessage","eventId"],"properties":{"errorCode":{"$ref":\#
        "#/components/schemas/ExpressPlayCode"},"errorMessage":{"type":"string"},"eventId":{"type":"string","pattern\#
        ":"^[0-9a-f]{16}$"}},"additionalProperties":false,"description":"A refusal in ExpressPlay's manner. It has n\#
        o number for what only HTTP knows.","example":{"errorCode":-2018,"errorMessage":"customerAuthenticator is no\#
        t known in this environment.","eventId":"5f0c2b7e91d3a846"}},\#
        "ExpressPlayPage":{"description":"The same as a page.","type":"string","pattern":"^<!DOCTYPE html>"},\#
        "SPC":{"description":"The bytes of an SPC, as the player made them.","type":"string","contentMediaType":"app\#
        lication/octet-stream"},\#
        "Base64SPC":{"type":"string","contentEncoding":"base64","minLength":1,"description":"The Base64 of an SPC, i\#
        n either alphabet, with padding or without."},\#
        "LicenceForm":{"type":"object","required":["spc"],"properties":{"spc":{"$ref":"#/components/schemas/Base64SP\#
        C"},"assetId":{"type":"string"},"token":{"type":"string","description":"Counts if `entitlement.tokenInBody\#
        ` is set."}},"example":{"spc":"AAAAAQ==","assetId":"movie-42"}},\#
        "LicenceParts":{"type":"object","required":["spc"],"properties":{"spc":{"type":"string","contentMediaType":"\#
        application/octet-stream","description":"The SPC, as bytes or in Base64."},"assetId":{"type":"string"},"toke\#
        n":{"type":"string"}}},\#
        "LicenceObject":{"description":"An object with the SPC under one of the names that players use.","type":"obj\#
        ect","oneOf":[{"required":["spc"]},{"required":["spcMessage"]},{"required":["SpcMessage"]},{"required":["spc\#
        Data"]},{"required":["payload"]},{"required":["licenseChallenge"]},{"required":["server_playback_context"]}]\#
        ,"properties":{"spc":{"$ref":"#/components/schemas/Base64SPC"},"spcMessage":{"$ref":"#/components/schemas/Ba\#
        se64SPC"},"SpcMessage":{"$ref":"#/components/schemas/Base64SPC"},"spcData":{"$ref":"#/components/schemas/Bas\#
        e64SPC"},"payload":{"$ref":"#/components/schemas/Base64SPC"},"licenseChallenge":{"$ref":"#/components/schema\#
        s/Base64SPC"},"server_playback_context":{"$ref":"#/components/schemas/Base64SPC"},"assetId":{"type":"string"\#
        },"contentId":{"type":"string"},"uri":{"type":"string"},"token":{"type":"string"}},"example":{"spc":"AAAAAQ=\#
        =","assetId":"movie-42"}},\#
        "GetFairplayLicense":{"type":"object","required":["getFairplayLicense"],"properties":{"getFairplayLicense":{\#
        "type":"object","required":["spcMessage"],"properties":{"spcMessage":{"$ref":"#/components/schemas/Base64SPC\#
        "},"assetId":{"type":"string"},"contentId":{"type":"string"},"uri":{"type":"string"}}},"token":{"type":"stri\#
        ng"}},"example":{"getFairplayLicense":{"spcMessage":"AAAAAQ=="}}},\#
        "KeyRequestArray":{"description":"What a browser sends for several keys (EME).","type":"array","minItems":1,\#
        "maxItems":16,"items":{"type":"object","required":["keyID","payload"],"properties":{"keyID":{"type":"string"\#
        ,"maxLength":1024},"payload":{"$ref":"#/components/schemas/Base64SPC"}}},"example":[{"keyID":"movie-42","pay\#
        load":"AAAAAQ=="}]},\#
        "StreamingKeysRequest":{"type":"object","required":["fairplay-streaming-request"],"properties":{"fairplay-st\#
        reaming-request":{"type":"object","required":["streaming-keys"],"properties":{"version":{"type":"integer"},"\#
        create":{"type":["string","number"]},"streaming-keys":{"type":"array","minItems":1,"maxItems":16,"items":{"t\#
        ype":"object","required":["spc"],"properties":{"id":{"type":["string","number"],"description":"Repeated in t\#
        he answer. A text has at most 1,024 bytes."},"uri":{"type":"string"},"spc":{"$ref":"#/components/schemas/Bas\#
        e64SPC"},"offline":{"type":"boolean"}}}}}},"token":{"type":"string"}},"example":{"fairplay-streaming-request\#
        ":{"version":1,"streaming-keys":[{"id":1,"uri":"skd://movie-42","spc":"AAAAAQ=="}]}}},\#
        "SessionReport":{"description":"A property list, binary or XML, with a `PlaybackSessionID` for each playbac\#
        k that has ended.","type":"string","contentMediaType":"application/x-plist"},\#
        "PropertyListText":{"description":"The same as XML.","type":"string"},\#
        "LicenceFacts":{"type":"object","required":["id","type","issued_at","expires_at","renew_after","lease","rent\#
        al","storage_expires_at","playback","persistent"],"properties":{"id":{"type":"string"},"type":{"type":"strin\#
        g","description":"The validity: for example `unlimited`, `lease`, `rental`."},"issued_at":{"type":"integer"}\#
        ,"expires_at":{"type":["integer","null"]},"renew_after":{"type":["integer","null"]},"lease":{"type":["intege\#
        r","null"]},"rental":{"type":["integer","null"]},"storage_expires_at":{"type":["integer","null"]},"playback"\#
        :{"type":["integer","null"]},"persistent":{"type":"boolean","description":"Whether the device keeps the key.\#
        "}},"description":"What is known of a licence. Times are in seconds since 1970, lengths in seconds; null i\#
        f there is no such limit.","example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","type":"lease","issued_at":1769860800,"e\#
        xpires_at":1769861100,"renew_after":1769861000,"lease":300,"rental":null,"storage_expires_at":null,"playback\#
        ":null,"persistent":false}},\#
        "LicenceAnswer":{"type":"object","required":["ckc","license","server_time"],"properties":{"ckc":{"type":"str\#
        ing","contentEncoding":"base64","minLength":1},"session_token":{"type":"string"},"license":{"$ref":"#/compon\#
        ents/schemas/LicenceFacts"},"server_time":{"type":"string","format":"date-time"}},"additionalProperties":fal\#
        se,"description":"`format=json`."},\#
        "NAGRALicenceAnswer":{"type":"object","required":["CkcMessage","license","server_time"],"properties":{"CkcMe\#
        ssage":{"type":"string","contentEncoding":"base64","minLength":1},"sessionToken":{"type":"string"},"license"\#
        :{"$ref":"#/components/schemas/LicenceFacts"},"server_time":{"type":"string","format":"date-time"}},"additio\#
        nalProperties":false,"description":"`format=nagra`."},\#
        "KalturaAnswer":{"type":"object","required":["ckc","persistence_duration"],"properties":{"ckc":{"type":"stri\#
        ng","contentEncoding":"base64","minLength":1},"persistence_duration":{"type":"integer","minimum":0}},"additi\#
        onalProperties":false,"description":"`format=kaltura`, and the answer to plain Base64. For how many second\#
        s from now on a kept key may begin to play."},\#
        "MemberAnswer":{"description":"The CKC under the name that belongs to that of the request.","type":"object",\#
        "minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{"ckc":{"type":"string","conte\#
        ntEncoding":"base64","minLength":1},"ckcMessage":{"type":"string","contentEncoding":"base64","minLength":1},\#
        "CkcMessage":{"type":"string","contentEncoding":"base64","minLength":1},"ckcData":{"type":"string","contentE\#
        ncoding":"base64","minLength":1},"payload":{"type":"string","contentEncoding":"base64","minLength":1}},"exam\#
        ple":{"ckc":"AAAAAQ=="}},\#
        "GetFairplayLicenseAnswer":{"type":"object","required":["getFairplayLicenseResponse"],"properties":{"getFair\#
        playLicenseResponse":{"type":"object","required":["ckcResponse"],"properties":{"ckcResponse":{"type":"string\#
        ","contentEncoding":"base64","minLength":1}},"additionalProperties":false}},"additionalProperties":false},\#
        "AppleStatus":{"description":"The status of a key that is refused, as Apple numbers it.","type":"integer","e\#
        num":[-42580,-42581,-42584,-42585,-42601,-42604,-42605]},\#
        "KeyAnswerArray":{"description":"A licence or a number for each key, in the order of the request.","type":"a\#
        rray","minItems":1,"maxItems":16,"items":{"type":"object","oneOf":[{"required":["payload"]},{"required":["er\#
        ror"]}],"properties":{"keyID":{"type":"string"},"payload":{"type":"string","contentEncoding":"base64","minLe\#
        ngth":1},"error":{"$ref":"#/components/schemas/AppleStatus"}},"additionalProperties":false}},\#
        "StreamingKeysAnswer":{"type":"object","required":["fairplay-streaming-response"],"properties":{"fairplay-st\#
        reaming-response":{"type":"object","required":["streaming-keys"],"properties":{"streaming-keys":{"type":"arr\#
        ay","minItems":1,"maxItems":16,"items":{"type":"object","required":["status"],"additionalProperties":false,"\#
        properties":{"id":{"type":["string","number"]},"status":{"description":"0 for success, or one of the number\#
        s of `AppleStatus`.","enum":[0,-42580,-42581,-42584,-42585,-42601,-42604,-42605]},"ckc":{"type":"string","co\#
        ntentEncoding":"base64","minLength":1},"renew-after":{"type":"integer","minimum":0},"lease-expiry-time":{"ty\#
        pe":"integer","minimum":0},"session-token":{"type":"string"},"playback":{"const":"ended"},"offline-sync":{"t\#
        ype":"object","required":["version","duration-to-expiry"],"properties":{"version":{"enum":[1,2]},"duration-t\#
        o-expiry":{"type":"integer"},"content-id":{"type":"string"},"server-challenge":{"type":"string","pattern":"^\#
        [0-9a-f]{16}$"},"flags":{"type":"object","additionalProperties":{"type":"boolean"}},"title-id":{"type":"stri\#
        ng"},"records-invalidated":{"type":"integer"},"invalidated-stream-ids":{"type":"array","items":{"type":"stri\#
        ng"}}}},"expiresInSeconds":{"type":["integer","null"]},"expirationDate":{"type":["string","null"],"format":"\#
        date-time"},"challengeAccepted":{"type":"boolean"}}}}},"additionalProperties":false}},"additionalProperties"\#
        :false},\#
        "SyncReport":{"type":"object","required":["offline-sync","expiresInSeconds","expirationDate","challengeAccep\#
        ted"],"properties":{"offline-sync":{"type":"object","required":["version","duration-to-expiry"],"properties"\#
        :{"version":{"enum":[1,2]},"duration-to-expiry":{"type":"integer"},"content-id":{"type":"string"},"server-ch\#
        allenge":{"type":"string","pattern":"^[0-9a-f]{16}$"},"flags":{"type":"object","additionalProperties":{"type\#
        ":"boolean"}},"title-id":{"type":"string"},"records-invalidated":{"type":"integer"},"invalidated-stream-ids"\#
        :{"type":"array","items":{"type":"string"}}}},"expiresInSeconds":{"type":["integer","null"]},"expirationDate\#
        ":{"type":["string","null"],"format":"date-time"},"challengeAccepted":{"type":"boolean"}},"additionalPropert\#
        ies":false,"description":"The answer to a sync SPC: what the device reports."},\#
        "PlaybackEnd":{"type":"object","required":["playback","server_time"],"properties":{"playback":{"const":"ende\#
        d"},"server_time":{"type":"string","format":"date-time"}},"additionalProperties":false,"description":"The an\#
        swer to an SPC whose device says that playback has stopped."},\#
        "LicenceJSON":{"anyOf":[{"$ref":"#/components/schemas/LicenceAnswer"},{"$ref":"#/components/schemas/NAGRALic\#
        enceAnswer"},{"$ref":"#/components/schemas/KalturaAnswer"},{"$ref":"#/components/schemas/MemberAnswer"},{"$r\#
        ef":"#/components/schemas/GetFairplayLicenseAnswer"},{"$ref":"#/components/schemas/KeyAnswerArray"},{"$ref":\#
        "#/components/schemas/StreamingKeysAnswer"},{"$ref":"#/components/schemas/SyncReport"},{"$ref":"#/components\#
        /schemas/PlaybackEnd"}]},\#
        "Problem400":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":400},"code":\#
        {"enum":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_unsupported"\#
        ,"spc_malformed","token_ambiguous","token_schema","bad_request"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem400":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        0},"code":{"enum":["body_empty","body_unrecognised","spc_is_certificate","spc_double_base64","spc_version_un\#
        supported","spc_malformed","token_ambiguous","token_schema","bad_request"]}},"unevaluatedProperties":false},\#
        "Problem401":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":401},"code":\#
        {"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_\#
        expired","token_not_yet","token_life","token_audience","token_issuer","admin_token_invalid","packager_invali\#
        d"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem401":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        1},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signatur\#
        e","token_expired","token_not_yet","token_life","token_audience","token_issuer","admin_token_invalid","packa\#
        ger_invalid"]}},"unevaluatedProperties":false},\#
        "Problem403":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":403},"code":\#
        {"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signature","token_\#
        expired","token_not_yet","token_life","token_audience","token_issuer","token_used","token_revoked","subject_\#
        disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed","right_not_star\#
        ted","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","session_killed","\#
        admin_role_missing","admin_origin_refused","packager_forbidden","entitlement_denied","terms_not_expressible"\#
        ,"security_level"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem403":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        3},"code":{"enum":["token_missing","token_malformed","token_alg","kid_unknown","kid_revoked","token_signatur\#
        e","token_expired","token_not_yet","token_life","token_audience","token_issuer","token_used","token_revoked"\#
        ,"subject_disabled","device_revoked","ip_denied","geo_denied","content_mismatch","offline_not_allowed","righ\#
        t_not_started","right_ended","device_mismatch","device_limit","concurrency_limit","session_expired","session\#
        _killed","admin_role_missing","admin_origin_refused","packager_forbidden","entitlement_denied","terms_not_ex\#
        pressible","security_level"]}},"unevaluatedProperties":false},\#
        "Problem404":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":404},"code":\#
        {"enum":["key_not_found","not_found"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem404":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        4},"code":{"enum":["key_not_found","not_found"]}},"unevaluatedProperties":false},\#
        "Problem408":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":408},"code":\#
        {"enum":["request_timeout"]}},"unevaluatedProperties":false},\#
        "Problem409":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":409},"code":\#
        {"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem409":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":40\#
        9},"code":{"enum":["spc_replayed","key_conflict","key_lost"]}},"unevaluatedProperties":false},\#
        "Problem413":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":413},"code":\#
        {"enum":["body_too_large"]}},"unevaluatedProperties":false},\#
        "Problem414":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":414},"code":\#
        {"enum":["uri_too_long"]}},"unevaluatedProperties":false},\#
        "Problem417":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":417},"code":\#
        {"enum":["expectation_failed"]}},"unevaluatedProperties":false},\#
        "Problem422":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":422},"code":\#
        {"enum":["spc_certificate_unknown","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem422":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":42\#
        2},"code":{"enum":["spc_certificate_unknown","spc_rejected","cpix_rejected"]}},"unevaluatedProperties":false\#
        },\#
        "Problem429":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":429},"code":\#
        {"enum":["rate_limited","overloaded"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem429":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":42\#
        9},"code":{"enum":["rate_limited","overloaded"]}},"unevaluatedProperties":false},\#
        "Problem431":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":431},"code":\#
        {"enum":["head_too_large"]}},"unevaluatedProperties":false},\#
        "Problem500":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":500},"code":\#
        {"enum":["internal"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem500":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":50\#
        0},"code":{"enum":["internal"]}},"unevaluatedProperties":false},\#
        "Problem501":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":501},"code":\#
        {"enum":["not_implemented"]}},"unevaluatedProperties":false},\#
        "Problem503":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":503},"code":\#
        {"enum":["key_store_timeout","entitlement_unavailable","storage_unavailable","clock_untrusted","module_unava\#
        ilable"]}},"unevaluatedProperties":false},\#
        "NAGRAProblem503":{"allOf":[{"$ref":"#/components/schemas/NAGRAProblem"}],"properties":{"status":{"const":50\#
        3},"code":{"enum":["key_store_timeout","entitlement_unavailable","storage_unavailable","clock_untrusted","mo\#
        dule_unavailable"]}},"unevaluatedProperties":false},\#
        "Problem505":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":505},"code":\#
        {"enum":["version_not_supported"]}},"unevaluatedProperties":false},\#
        "CertificateBase64":{"description":"The Base64 of the same bytes, without a line end.","type":"string","cont\#
        entEncoding":"base64"},\#
        "LicenceState":{"oneOf":[{"allOf":[{"$ref":"#/components/schemas/LicenceFacts"}],"required":["state","kid","\#
        content","renewable"],"properties":{"state":{"enum":["valid","ended","renewed"]},"kid":{"type":["string","nu\#
        ll"]},"content":{"type":["string","null"]},"renewable":{"type":"boolean"}},"unevaluatedProperties":false},{"\#
        type":"object","required":["id","state"],"properties":{"id":{"type":"string"},"state":{"const":"unknown"}},"\#
        additionalProperties":false}],"example":{"id":"AZq0Zk1vcPOBkXvS0hE8nQ","state":"unknown"}},\#
        "LicenceQuery":{"oneOf":[{"type":"object","required":["licenses"],"properties":{"licenses":{"type":"array","\#
        minItems":1,"maxItems":32,"items":{"type":"string","minLength":1,"maxLength":200}}},"additionalProperties":f\#
        alse},{"type":"object","required":["assets"],"properties":{"assets":{"type":"array","minItems":1,"maxItems":\#
        32,"items":{"type":"string","minLength":2,"maxLength":200}}},"additionalProperties":false}],"example":{"asse\#
        ts":["movie-42"]}},\#
        "LicenceStates":{"oneOf":[{"type":"object","required":["server_time","licenses"],"properties":{"server_time"\#
        :{"type":"string","format":"date-time"},"licenses":{"type":"array","items":{"$ref":"#/components/schemas/Lic\#
        enceState"}}},"additionalProperties":false},{"type":"object","required":["server_time","assets"],"properties\#
        ":{"server_time":{"type":"string","format":"date-time"},"assets":{"type":"array","items":{"type":"object","r\#
        equired":["asset","licenses"],"properties":{"asset":{"type":"string"},"licenses":{"type":"array","items":{"$\#
        ref":"#/components/schemas/LicenceState"}}},"additionalProperties":false}}},"additionalProperties":false}],"\#
        example":{"server_time":"2026-01-31T12:00:00.000Z","assets":[{"asset":"movie-42","licenses":[]}]}},\#
        "Challenge":{"type":"object","required":["challenge","expiresIn"],"properties":{"challenge":{"type":"string"\#
        ,"pattern":"^[0-9a-f]{16}$"},"expiresIn":{"type":"integer","description":"In seconds."}},"additionalProperti\#
        es":false,"example":{"challenge":"00f1e2d3c4b5a697","expiresIn":300}},\#
        "TokenForm":{"description":"The parameters of a token request, in the form or in the query. Those of PlayRea\#
        dy are checked and have no effect.","type":"object","properties":{"customerAuthenticator":{"type":"string"},\#
        "errorFormat":{"enum":["html","json"]},"generalFlags":{"type":"string","pattern":"^([0-9A-Fa-f]{4}|[0-9A-Fa-\#
        f]{8})$"},"contentKey":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"kek":{"type":"string","pattern":"^([\#
        0-9A-Fa-f]{32}|[0-9A-Fa-f]{48}|[0-9A-Fa-f]{64})$"},"ek":{"type":"string","pattern":"^[0-9A-Fa-f]{48}$"},"kid\#
        ":{"type":"string","pattern":"^([0-9A-Fa-f]{32}|\\^[!-~]{1,64})$"},"iv":{"type":"string","pattern":"^[0-9A-F\#
        a-f]{32}$"},"rentalDuration":{"type":"integer","minimum":0,"maximum":4294967294},"fpExtension":{"type":"stri\#
        ng"},"expirationTime":{"type":"string","description":"RFC 3339 in UTC, or `+` and seconds; 30 days at most."\#
        },"cookie":{"type":"string","maxLength":32},"latchkey.lease":{"type":"integer","minimum":1,"maximum":4294967\#
        294},"latchkey.device":{"type":"string"},"latchkey.bind":{"enum":["first","none"]},"latchkey.uses":{"type":"\#
        integer","minimum":1,"maximum":4294967295},"latchkey.hdcp":{"enum":["none","type0","type1"]},"rightsType":{"\#
        enum":["BuyToOwn","Rental"]},"rental.periodEndTime":{"type":"string"},"rental.playDuration":{"type":"integer\#
        ","minimum":0},"analogVideoOPL":{"type":"integer","minimum":0,"maximum":999},"compressedDigitalAudioOPL":{"t\#
        ype":"integer","minimum":0,"maximum":999},"compressedDigitalVideoOPL":{"type":"integer","minimum":0,"maximum\#
        ":999},"uncompressedDigitalAudioOPL":{"type":"integer","minimum":0,"maximum":999},"uncompressedDigitalVideoO\#
        PL":{"type":"integer","minimum":0,"maximum":999},"prFlag":{"type":"string","pattern":"^[0-9A-Fa-f]{8}$"},"us\#
        eHttps":{"enum":["true","false","1","0"]}},"example":{"customerAuthenticator":"201722,0123456789abcdef012345\#
        6789abcdef","kid":"^movie-1","expirationTime":"+300"}},\#
        "SEESQuestion":{"type":"object","required":["messageID","version","requestType","contentID"],"properties":{"\#
        messageID":{"type":"string","format":"uuid"},"version":{"const":1},"requestType":{"enum":[1,2,3],"descriptio\#
        n":"1 for a time, 2 to register the device, 3 for registered devices alone."},"contentID":{"type":"string","\#
        pattern":"^[!-~]{1,200}$"},"customerCookie":{"type":["string","null"],"minLength":1,"maxLength":32,"descript\#
        ion":"Needed for the types 2 and 3."}},"example":{"messageID":"0f8fad5b-d9cb-469f-a165-70867728950e","versio\#
        n":1,"requestType":1,"contentID":"movie-1"}},\#
        "SEESAnswer":{"type":"object","required":["messageID","version","isAllowed","epTokenURL"],"properties":{"mes\#
        sageID":{"type":"string"},"version":{"const":1},"isAllowed":{"type":"boolean"},"epTokenURL":{"type":"string"\#
        },"error":{"$ref":"#/components/schemas/ExpressPlayCode"},"errorText":{"type":"string"}},"additionalProperti\#
        es":false,"description":"Also of questions that are refused: `isAllowed` is false then.","example":{"message\#
        ID":"0f8fad5b-d9cb-469f-a165-70867728950e","version":1,"isAllowed":false,"epTokenURL":"","error":-4019,"erro\#
        rText":"The key store has no such key to give."}},\#
        "CPIXDocument":{"description":"A CPIX document as SPEKE has it, in UTF-8, of at most 256 KiB.","type":"strin\#
        g","minLength":1},\#
        "Problem415":{"allOf":[{"$ref":"#/components/schemas/Problem"}],"properties":{"status":{"const":415},"code":\#
        {"enum":["media_type_unsupported"]}},"unevaluatedProperties":false},\#
        "TrackOrder":{"anyOf":[{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$"},{"type":"object",\#
        "required":["track"],"properties":{"track":{"type":"string","minLength":1,"maxLength":64,"pattern":"^[!-~]*$\#
        "},"contentType":{"enum":["audio","sd","hd","uhd",null]},"kid":{"type":["string","null"],"format":"uuid"},"i\#
        v":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$"},"key":{"type":"string","pattern":"^[0-9A-Fa-f]{32}$","des\#
        cription":"Imports a key, which needs the scope `import` and an `iv`."},"hdcp":{"enum":["none","type0","type\#
        1",null]},"securityLevel":{"enum":["audio","baseline","main",null]}},"additionalProperties":false}],"example\#
        ":{"track":"4K","contentType":"uhd"}},\#
        "KeyOrder":{"type":"object","required":["contentId","tracks"],"properties":{"contentId":{"type":"string","pa\#
        ttern":"^[!-~]{1,200}$"},"tracks":{"type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/components/s\#
        chemas/TrackOrder"}},"scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1",null]},"period":{"type":["in\#
        teger","null"],"minimum":0,"maximum":4294967295}},"additionalProperties":false,"example":{"contentId":"movie\#
        -1","tracks":["HD","AUDIO"]}},\#
        "DeliveredKeys":{"type":"object","required":["contentId","keys"],"properties":{"contentId":{"type":"string"}\#
        ,"keys":{"type":"array","minItems":1,"items":{"type":"object","required":["kid","track","contentType","perio\#
        d","scheme","key","iv","url","outcome"],"properties":{"kid":{"type":"string","format":"uuid"},"track":{"type\#
        ":["string","null"]},"contentType":{"enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]},"\#
        scheme":{"enum":["cbcs","sample-aes","cenc","cens","cbc1"]},"key":{"type":"string","pattern":"^[0-9a-f]{32}$\#
        "},"iv":{"type":"string","pattern":"^[0-9a-f]{32}$"},"url":{"type":"string"},"outcome":{"enum":["created","f\#
        ound","imported"]}},"additionalProperties":false}}},"additionalProperties":false},\#
        "KeyPage":{"type":"object","required":["contentId","keys","next"],"properties":{"contentId":{"type":"string"\#
        },"keys":{"type":"array","items":{"type":"object","required":["kid","track","contentType","period","scheme",\#
        "key","iv","url"],"properties":{"kid":{"type":"string","format":"uuid"},"track":{"type":["string","null"]},"\#
        contentType":{"enum":["audio","sd","hd","uhd"]},"period":{"type":["integer","null"]},"scheme":{"enum":["cbcs\#
        ","sample-aes","cenc","cens","cbc1"]},"key":{"type":"string","pattern":"^[0-9a-f]{32}$"},"iv":{"type":"strin\#
        g","pattern":"^[0-9a-f]{32}$"},"url":{"type":"string"}},"additionalProperties":false}},"next":{"type":["stri\#
        ng","null"],"format":"uuid","description":"`after` of the next page."}},"additionalProperties":false}}}}
        """#
}
